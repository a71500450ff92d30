"""What the driver says of links that failed, as findings: one for all that failed together."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.losses import lost_at_about
from gputui.incidents.nvlink_findings import (
    PEER_LOST,
    PEER_LOST_S,
    SWITCH_FAILED,
    UNDER,
    advice,
    ends,
    of_node,
    with_their_peers,
)
from gputui.incidents.nvlink_words import LINK_XIDS, LinkWords, said_of_link
from gputui.incidents.nvlinks import BrokenLink, peer_of
from gputui.incidents.rule import Cause, Finding, Subject, after
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, GpuSample, NodeSample

UNREAD = after(hours=24)
"""Where links cannot be read, what the log said holds until a reset, or for a day."""

_AT_ONCE_S = 5.0
_SEVERAL = 3
"""So many GPUs that tell of broken links within seconds have a switch in common."""

_Peer = int | str | None


def told_of_links(event: KernelEvent, past: History) -> Iterator[Finding]:
    """A link failed, and by which Xid. Two GPUs that say so at once are its two ends."""
    words = said_of_link(event)
    if words is None or event.bus_id is None:
        return
    now = past.samples[-1] if past.samples else None
    together = _together(event, past)
    names = tuple(_subject(bus_id, past).name for bus_id in together)
    if len(together) >= _SEVERAL:
        host = now.host if now is not None else event.host or ""
        text = f"links of {len(together)} GPUs failed at once"
        yield of_node(host, "switch", text, names, [event.text], works=True, under=(PEER_LOST,))
        return
    gpu = past.gpu_at(event.bus_id)
    peer = _peer(gpu, words, now)
    subject = _subject(event.bus_id, past)
    covers: tuple[str, ...] = ()
    text = _text(event, words, gpu, peer)
    if isinstance(peer, int):
        subject = _lower_end(subject, gpu, peer, now)
        if len(together) == 2 and _is_at(peer, together, past):
            text = _ends_text(event, together, past)
        elif gpu is not None and subject.gpu != gpu.index:
            text = _ends_text(event, [event.bus_id], past)
    elif (
        len(together) == 2
        and not _has_lost_one(event, past)
        and _share_an_end(together, peer, past, now)
    ):
        subject, covers = _subject(together[0], past), names[1:]
        text = _ends_text(event, together, past)
    broken = [BrokenLink(gpu, words.link or 0, peer)] if gpu is not None else []
    is_read = gpu is not None and gpu.nvlinks_down is not None
    yield Finding(
        subject,
        cause="peer" if words.blames_peer else "link",
        cause_text=text,
        action=Action.CHECK_LINK,
        action_text=advice(gpu, blames_peer=words.blames_peer),
        evidence=(event.text,),
        under=_under(gpu, peer, now),
        others=(*ends(broken, now), *covers),
        covers=covers,
        clears=None if is_read else UNREAD,
    )


def _under(gpu: GpuSample | None, peer: _Peer, now: NodeSample | None) -> tuple[str | Cause, ...]:
    """What may explain that a link failed: what is at its other end, if anybody knows."""
    if isinstance(peer, int) and gpu is not None and now is not None:
        return (*UNDER, *with_their_peers([BrokenLink(gpu, 0, peer)], now))
    return (*UNDER, PEER_LOST) if peer is not None else (*UNDER, PEER_LOST, SWITCH_FAILED)


def _has_lost_one(event: KernelEvent, past: History) -> bool:
    """Whether a GPU of the node has just fallen off the bus: its peers are no two ends."""
    return bool(lost_at_about(event.time_s, past, PEER_LOST_S))


def _together(event: KernelEvent, past: History) -> list[str]:
    """The GPUs of which the log told such a thing within seconds, the first one first."""
    first: dict[str, float] = {}
    for other in past.xids_near(LINK_XIDS, event.time_s, _AT_ONCE_S):
        if other.bus_id is not None and said_of_link(other) is not None:
            first.setdefault(other.bus_id, other.time_s)
    return sorted(first, key=lambda bus_id: (first[bus_id], bus_id))


def _subject(bus_id: str, past: History) -> Subject:
    gpu = past.gpu_at(bus_id)
    return Subject.of_gpu(gpu) if gpu is not None else Subject.of_bus(bus_id)


def _peer(gpu: GpuSample | None, words: LinkWords, now: NodeSample | None) -> _Peer:
    if gpu is None or now is None or words.link is None:
        return None
    return peer_of(gpu, words.link, now)


def _lower_end(
    subject: Subject, gpu: GpuSample | None, peer: int, now: NodeSample | None
) -> Subject:
    """Of a link between two GPUs it is told of the one with the lower index."""
    if gpu is None or now is None or peer > gpu.index:
        return subject
    return next((Subject.of_gpu(one) for one in now.gpus if one.index == peer), subject)


def _share_an_end(together: list[str], peer: _Peer, past: History, now: NodeSample | None) -> bool:
    """Whether the links of two GPUs lead to one switch, or nobody knows where they lead."""
    for bus_id in together:
        gpu = past.gpu_at(bus_id)
        for event in past.xids_at(bus_id, LINK_XIDS) if gpu is not None else ():
            words = said_of_link(event)
            if words is not None and _peer(gpu, words, now) not in (None, peer):
                return False
    return True


def _text(event: KernelEvent, words: LinkWords, gpu: GpuSample | None, peer: _Peer) -> str:
    if words.link is None:
        return f"a link failed (Xid {event.code})"
    named = BrokenLink(gpu, words.link, peer).text if gpu else f"link {words.link}"
    return f"{named} failed (Xid {event.code})"


def _is_at(peer: int, together: list[str], past: History) -> bool:
    """Whether a GPU, by its index, is one of those that told of such a thing."""
    there = (past.gpu_at(bus_id) for bus_id in together)
    return any(gpu is not None and gpu.index == peer for gpu in there)


def _ends_text(event: KernelEvent, ends_told: list[str], past: History) -> str:
    """Each end that told of a link, by its own number of it."""
    named = [_end(bus_id, event, past) for bus_id in ends_told]
    return f"{' and '.join(named)} failed (Xid {event.code})"


def _end(bus_id: str, event: KernelEvent, past: History) -> str:
    """``link 10 of GPU 3``: the links that a GPU told of at about the time of an event."""
    found: dict[int, None] = {}
    for other in past.xids_near(LINK_XIDS, event.time_s, _AT_ONCE_S, bus_id):
        words = said_of_link(other)
        if words is not None and words.link is not None:
            found[words.link] = None
    gpu = past.gpu_at(bus_id)
    whom = bus_id if gpu is None else f"GPU {gpu.index}"
    if not found:
        return f"a link of {whom}"
    return f"{'link' if len(found) == 1 else 'links'} {', '.join(map(str, found))} of {whom}"
