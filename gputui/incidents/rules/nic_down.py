"""A network link that worked and does not any more."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.ports import RDMA
from gputui.incidents.rule import CRITICAL, WARNING, Cause, Finding, Subject, rule, samples
from gputui.model import Action, LinkSample, NodeSample
from gputui.sources.reasons import GONE


@rule(kind="NicDown", severity=CRITICAL, holds=samples(3), clears=samples(3))
def nic_down(now: NodeSample, past: History) -> Iterator[Finding]:
    """A port or interface was up since the start, and is down for three samples.

    One that never was up is perhaps not even connected, and one that its administrator has put down
    is not told at all. What RDMA uses, and a bond, is grave; a single interface is a warning. All
    RDMA ports down at once are their switch, and one incident of the node.
    """
    down = [link for link in now.links if _is_down(link) and past.ports.was_up(link.name)]
    fabric = [link for link in now.links if link.kind in RDMA and past.ports.was_up(link.name)]
    all_down = len(fabric) > 1 and all(_is_down(link) for link in fabric)
    if all_down:
        yield Finding(
            Subject.of_node(now.host),
            cause="switch",
            cause_text=f"all {len(fabric)} RDMA ports are down",
            action=Action.CHECK_NETWORK,
            action_text="check the switches that the node is connected to",
            evidence=tuple(_told(link) for link in fabric),
            covers=tuple(Subject.of_nic(link.name).name for link in fabric),
        )
    for link in down:
        cause, text, advice = _blame(link)
        yield Finding(
            Subject.of_nic(link.name),
            cause=cause,
            cause_text=text,
            action=Action.CHECK_NETWORK,
            action_text=advice,
            evidence=(_told(link),),
            severity=CRITICAL if link.kind in RDMA or link.kind == "bond" else WARNING,
            under=tuple(_causes(link, down)),
        )


def _is_down(link: LinkSample) -> bool:
    return link.state is not None and not link.is_up


def _blame(link: LinkSample) -> tuple[str, str, str]:
    """Cause, what is so, and what to do."""
    if link.state == GONE:
        return "unknown", "its device is gone", "see dmesg for its driver; power-cycle the node"
    if link.kind not in RDMA:
        return (
            "link",
            f"it is {link.state}",
            f"check its cable and switch port (ethtool {link.name})",
        )
    device, _, port = link.name.partition("/")
    status = f"ibstat {device} {port}"
    if link.physical_state == "linkup":
        text = f"connected, but {link.state}"
        return "switch", text, f"see whether a subnet manager runs (sminfo; {status})"
    text = f"it is {link.state}" + (f", {link.physical_state}" if link.physical_state else "")
    return "link", text, f"check its cable and switch port ({status})"


def _causes(link: LinkSample, down: list[LinkSample]) -> Iterator[Cause]:
    """The links that bring this one down with them: its bond, and the port that it belongs to."""
    for other in down:
        if other.name == link.bond or (other.interface == link.name and other.kind in RDMA):
            yield Cause("NicDown", on=Subject.of_nic(other.name).name)


def _told(link: LinkSample) -> str:
    physical = f", physically {link.physical_state}" if link.physical_state else ""
    return f"{link.name} ({link.kind}): {link.state}{physical}"
