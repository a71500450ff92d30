"""NVLinks that are down: a link with two ends, a switch, or the whole fabric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gputui.incidents.history import History
from gputui.incidents.load import works_lately
from gputui.incidents.nvlink_findings import UNDER, advice, ends, of_node, with_their_peers
from gputui.incidents.nvlink_told import UNREAD, told_of_links
from gputui.incidents.nvlink_words import LINK_XIDS, said_of_link
from gputui.incidents.nvlinks import (
    BrokenLink,
    all_down,
    broken_links,
    told_once,
    whole_switches,
    without_lost_peers,
)
from gputui.incidents.rule import CRITICAL, INFO, Finding, Subject, after, rule, samples, xids
from gputui.model import Action, GpuSample, NodeSample

_MOST_NAMED = 4


@rule(
    kind="NvlinkDown",
    severity=CRITICAL,
    holds=samples(3),
    clears=after(seconds=60),
    on_log=told_of_links,
    hears=xids(*LINK_XIDS),
)
def nvlink_down(now: NodeSample, past: History) -> Iterator[Finding]:
    """A link that leads somewhere is down: DCGM's health check fails on the first one.

    One link is the link's own matter, and names both of its ends. All links to one switch are the
    switch; all links of all GPUs are the fabric manager, or the baseboard. Links of a GPU that has
    nothing to do may sleep: of those alone it is information.
    """
    links = broken_links(now)
    if not links:
        return
    works = any(
        works_lately(past, gpu) for gpu in {one.gpu.index: one.gpu for one in links}.values()
    )
    names = tuple(Subject.of_gpu(gpu).name for gpu in now.gpus if gpu.nvlinks)
    if all_down(links, now):
        joined = all(gpu.fabric_state in (None, "completed") for gpu in now.gpus)
        cause = "switch" if joined else "fabric-manager"
        text = "all links of all GPUs are down"
        yield of_node(now.host, cause, text, names, _readings(links), works=works)
        return
    switches = whole_switches(links, now)
    if switches:
        named = ", ".join(switches)
        text = f"every link to switch {named} is down"
        of_them = [one for one in links if one.peer in switches]
        yield of_node(now.host, "switch", text, names, _readings(of_them), works=works)
    rest = [one for one in links if one.peer not in switches]
    for both in told_once(rest).values():
        broken = without_lost_peers(both, now)
        lost = () if broken else with_their_peers(both, now)
        broken = broken or both
        gpu = broken[0].gpu
        yield Finding(
            Subject.of_gpu(gpu),
            cause="link",
            cause_text=_named(broken, gpu),
            action=Action.CHECK_LINK,
            action_text=advice(gpu),
            evidence=tuple(_readings(broken)),
            severity=CRITICAL if works_lately(past, gpu) or _log_tells(gpu, now, past) else INFO,
            under=(*UNDER, *lost),
            others=ends(broken, now),
        )


def _log_tells(gpu: GpuSample, now: NodeSample, past: History) -> bool:
    """Whether the driver said of it, within a day, that a link failed: it does not merely sleep."""
    return any(
        said_of_link(event) is not None and now.time_s - event.time_s <= UNREAD.seconds
        for event in past.events_on(gpu)
    )


def _named(broken: Sequence[BrokenLink], gpu: GpuSample) -> str:
    if len(broken) == gpu.nvlinks and len(broken) > 1:
        return f"all {len(broken)} links are down"
    named = ", ".join(one.text for one in broken[:_MOST_NAMED])
    more = f" and {len(broken) - _MOST_NAMED} more" if len(broken) > _MOST_NAMED else ""
    return f"{named}{more} {'is' if len(broken) == 1 else 'are'} down"


def _readings(links: Sequence[BrokenLink]) -> list[str]:
    by_gpu: dict[int, list[int]] = {}
    for one in links:
        by_gpu.setdefault(one.gpu.index, []).append(one.number)
    return [
        f"GPU {index}: links {', '.join(map(str, numbers))} are down"
        for index, numbers in by_gpu.items()
    ]
