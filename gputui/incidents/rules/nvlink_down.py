"""NVLinks that are down: a link with two ends, a switch, or the whole fabric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gputui.incidents.history import History
from gputui.incidents.load import works_lately
from gputui.incidents.nvlink_words import LinkWords, said_of_link
from gputui.incidents.nvlinks import (
    BrokenLink,
    all_down,
    broken_links,
    peer_of,
    told_once,
    whole_switches,
)
from gputui.incidents.rule import CRITICAL, INFO, Finding, Subject, after, rule, samples
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, GpuSample, NodeSample

_AT_ONCE_S = 5.0
_SEVERAL = 3
"""So many GPUs that tell of broken links within seconds have a switch in common."""

_UNREAD = after(hours=24)
"""Where links cannot be read, what the log said holds until a reset, or for a day."""

_UNDER = ("GpuLost", "GpuResetRequired", "FabricNotReady")
_MOST_NAMED = 4


def _told(event: KernelEvent, past: History) -> Iterator[Finding]:
    """The driver says that a link failed, and by which Xid."""
    words = said_of_link(event)
    if words is None or event.bus_id is None:
        return
    gpu = past.gpu_at(event.bus_id)
    now = past.samples[-1] if past.samples else None
    together = _together(event, past)
    if len(together) >= _SEVERAL and now is not None:
        yield _of_node(now, "switch", f"links of {len(together)} GPUs failed at once", [event.text])
        return
    subject = Subject.of_gpu(gpu) if gpu else Subject.of_bus(event.bus_id)
    peer = None
    if gpu is not None and now is not None and words.link is not None:
        peer = peer_of(gpu, words.link, now)
        if isinstance(peer, int) and peer < gpu.index:
            subject = Subject.of_gpu(next(one for one in now.gpus if one.index == peer))
    is_read = gpu is not None and gpu.nvlinks_down is not None
    yield Finding(
        subject,
        cause="peer" if words.blames_peer else "link",
        cause_text=_words(event, words, gpu, peer),
        action=Action.CHECK_LINK,
        action_text=_advice(gpu, words),
        evidence=(event.text,),
        under=_UNDER,
        others=_others([BrokenLink(gpu, words.link or 0, peer)] if gpu else [], now),
        clears=None if is_read else _UNREAD,
    )


@rule(
    kind="NvlinkDown",
    severity=CRITICAL,
    holds=samples(3),
    clears=after(seconds=60),
    on_log=_told,
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
    if all_down(links, now):
        joined = all(gpu.fabric_state in (None, "completed") for gpu in now.gpus)
        cause = "switch" if joined else "fabric-manager"
        text = "all links of all GPUs are down"
        yield _of_node(now, cause, text, _readings(links), works=works)
        return
    switches = whole_switches(links, now)
    if switches:
        named = ", ".join(switches)
        text = f"every link to switch {named} is down"
        of_them = [one for one in links if one.peer in switches]
        yield _of_node(now, "switch", text, _readings(of_them), works=works)
    rest = [one for one in links if one.peer not in switches]
    for broken in told_once(rest).values():
        gpu = broken[0].gpu
        yield Finding(
            Subject.of_gpu(gpu),
            cause="link",
            cause_text=_named(broken, gpu),
            action=Action.CHECK_LINK,
            action_text=_advice(gpu, None),
            evidence=tuple(_readings(broken)),
            severity=CRITICAL if works_lately(past, gpu) or _log_tells(gpu, now, past) else INFO,
            under=_UNDER,
            others=_others(broken, now),
        )


def _of_node(
    now: NodeSample, cause: str, text: str, evidence: Sequence[str], *, works: bool = True
) -> Finding:
    names = tuple(Subject.of_gpu(gpu).name for gpu in now.gpus if gpu.nvlinks)
    restart = "restart nvidia-fabricmanager, then reset all GPUs"
    return Finding(
        Subject.of_node(now.host),
        cause=cause,
        cause_text=text,
        action=Action.CHECK_LINK,
        action_text=f"drain; {restart} (systemctl restart nvidia-fabricmanager; nvidia-smi -r); "
        "if it stays so, the baseboard",
        evidence=tuple(evidence),
        severity=CRITICAL if works else INFO,
        under=("FabricNotReady",),
        others=names,
        covers=names,
    )


def _together(event: KernelEvent, past: History) -> set[str | None]:
    """The GPUs of which the log told the same within seconds."""
    return {
        other.bus_id
        for other in past.events("xid")
        if abs(other.time_s - event.time_s) <= _AT_ONCE_S and said_of_link(other) is not None
    }


def _log_tells(gpu: GpuSample, now: NodeSample, past: History) -> bool:
    """Whether the driver said of it, within a day, that a link failed: it does not merely sleep."""
    return any(
        said_of_link(event) is not None and now.time_s - event.time_s <= _UNREAD.seconds
        for event in past.events_on(gpu)
    )


def _others(broken: Sequence[BrokenLink], now: NodeSample | None) -> tuple[str, ...]:
    """Whom a broken link concerns as well: the GPU at the other end, or the node of the switch."""
    if now is None:
        return ()
    names = []
    for one in broken:
        if isinstance(one.peer, int):
            names += [Subject.of_gpu(gpu).name for gpu in now.gpus if gpu.index == one.peer]
            names.append(Subject.of_gpu(one.gpu).name)
        elif one.peer is not None:
            names.append(Subject.of_node(now.host).name)
    return tuple(dict.fromkeys(names))


def _named(broken: Sequence[BrokenLink], gpu: GpuSample) -> str:
    if len(broken) == gpu.nvlinks and len(broken) > 1:
        return f"all {len(broken)} links are down"
    named = ", ".join(one.text for one in broken[:_MOST_NAMED])
    more = f" and {len(broken) - _MOST_NAMED} more" if len(broken) > _MOST_NAMED else ""
    return f"{named}{more} {'is' if len(broken) == 1 else 'are'} down"


def _words(
    event: KernelEvent, words: LinkWords, gpu: GpuSample | None, peer: int | str | None
) -> str:
    if words.link is None:
        return f"a link failed (Xid {event.code})"
    named = BrokenLink(gpu, words.link, peer).text if gpu else f"link {words.link}"
    return f"{named} failed (Xid {event.code})"


def _advice(gpu: GpuSample | None, words: LinkWords | None) -> str:
    if words is not None and words.blames_peer:
        return "look at the other end of the link first (nvidia-smi nvlink -s), then reset both"
    index = "" if gpu is None else f" -i {gpu.index}"
    return (
        f"drain, reset the GPUs at both ends; if it stays down (nvidia-smi nvlink -s{index}), "
        "its bridge or baseboard"
    )


def _readings(links: Sequence[BrokenLink]) -> list[str]:
    by_gpu: dict[int, list[int]] = {}
    for one in links:
        by_gpu.setdefault(one.gpu.index, []).append(one.number)
    return [
        f"GPU {index}: links {', '.join(map(str, numbers))} are down"
        for index, numbers in by_gpu.items()
    ]
