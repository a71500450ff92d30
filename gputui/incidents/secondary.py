"""Xids that another Xid brings about: the same GPU, within seconds.

When a GPU fails, the driver removes the channels that were in use: an Xid 45 (or 43) for each, and
whatever the application ran into before it noticed (13, 31). NVIDIA's catalogue says of 45 that the
Xid before it is the one to follow, and newer drivers name it in the line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from gputui.facts.xid import xid_fact
from gputui.incidents.history import History
from gputui.incidents.rule import ANYBODY, CRITICAL, WARNING, Cause, Subject
from gputui.logs.kernel import KernelEvent

_SECONDARY = frozenset({13, 31, 43, 45, 154})
_PRIMARY = (79, 62, 119, 120, 95, 94, 48, 140, 64, 63, 74)
"""Off the bus, its processors, memory, a link: the gravest first."""

_KINDS = ("EccUncorrectable", "NvlinkDown", "GpuHung")
"""What the same failures are called where readings or other lines show them."""

WITHIN_S = 10.0

_LINK_TO_HOST = Cause("PcieErrors", within_s=WITHIN_S, at_least=WARNING)
"""An access that PCIe did not complete leaves a fault behind."""

_PEER_LOST = Cause("GpuLost", on=ANYBODY, within_s=WITHIN_S, anew=True)
"""The channels of a job's other GPUs end as well when one of them falls off the bus."""

_SWITCH_DEAD = Cause("NvswitchError", on=ANYBODY, within_s=WITHIN_S, at_least=CRITICAL, anew=True)
"""A fatal error of a switch ends what goes through it, by Xid 45 (the Fabric Manager's guide)."""

_LINK_DEAD = Cause("NvlinkDown", on=ANYBODY, within_s=WITHIN_S, at_least=CRITICAL, anew=True)
"""What others had under way over a link that failed ends with an error of theirs."""

_NVLINK5_XIDS = range(144, 151)

LINK_XIDS = frozenset({74, *_NVLINK5_XIDS})
"""NVLink errors, and those of NVLink5."""

_LINK_KINDS = ("NvlinkDown", "NvlinkErrors")
"""What they are called where readings show them, or the line itself names the link."""

_HANG_XIDS = frozenset({119, 120})
"""The system processor does not answer the driver, so that calls to the GPU do not return."""

_REMOVAL = 45
"""A channel is removed because of what was told before."""

_REMOVED_FOR = frozenset({13, 31, 43, 62, 109, *_PRIMARY})

_FOLLOWS: Mapping[int, frozenset[int]] = {
    43: frozenset({13, 31}),
    46: frozenset({79, 95, 48, 140, 154}),
    109: frozenset({13}),
    119: frozenset({120}),
    137: frozenset(_NVLINK5_XIDS),
    154: frozenset({137}),
}
"""What comes after what: a channel is reset after its application's fault; a GPU stops after an
error of its memory; its system processor does not answer once its firmware has crashed; the driver
asks for its IMEX domain to be recovered after an access over NVLink that was refused; a context
whose kernel failed cannot be switched away; an error of a link shows as an access refused."""

_HANGS_AFTER = frozenset({62, 48, 95, 140, 64, 109})
"""With these a GPU stops, and with it the processor that would have to answer the driver."""

_LOOKING_BACK = _HANG_XIDS | {_REMOVAL, *_FOLLOWS, *_NVLINK5_XIDS}
"""Whose causes depend on what the same GPU told before."""


def causes_of_xid(event: KernelEvent, past: History) -> tuple[Cause, ...]:
    """What may have brought an Xid about, if it is there; what the line names comes first."""
    code = event.code or 0
    looks_back = event.caused_by is not None or code in _LOOKING_BACK
    if not looks_back:
        return _told_alone(code)
    hangs = _before(event, past, _HANGS_AFTER) if code in _HANG_XIDS else []
    removed = _before(event, past, _REMOVED_FOR) if code == _REMOVAL else []
    follows = _before(event, past, _FOLLOWS.get(code, ()))
    first = _first_of_all(event, past) if code in _NVLINK5_XIDS else ()
    if event.caused_by is None and not (hangs or removed or follows or first):
        return _told_alone(code)
    return tuple(_composed(code, event.caused_by, hangs, removed, follows, first))


@lru_cache(maxsize=256)
def _told_alone(code: int) -> tuple[Cause, ...]:
    """What may have brought about an Xid before which its GPU told nothing that matters."""
    return tuple(_composed(code, None, (), (), (), ()))


def _composed(
    code: int,
    caused_by: int | None,
    hangs: Iterable[int],
    removed: Sequence[int],
    follows: Iterable[int],
    first: Iterable[Cause],
) -> Iterator[Cause]:
    if caused_by is not None:
        yield Cause("GpuXid", key=str(caused_by))
    if code in LINK_XIDS:
        yield from (Cause(kind, within_s=WITHIN_S) for kind in _LINK_KINDS)
        if code in _NVLINK5_XIDS:
            yield _LINK_DEAD
            yield from first
    if code in _HANG_XIDS:
        yield from map(_cause, hangs)
        yield Cause("GpuHung", within_s=WITHIN_S)
    yield from (_cause(one) for one in removed if _is_grave(one))
    if code in _SECONDARY:
        yield from map(_cause, _PRIMARY)
        yield from (Cause(kind, within_s=WITHIN_S) for kind in _KINDS)
        yield from (_LINK_TO_HOST, _PEER_LOST, _SWITCH_DEAD)
    yield from map(_cause, removed)
    yield from map(_cause, follows)


def _first_of_all(event: KernelEvent, past: History) -> tuple[Cause, ...]:
    """The GPU that told of the same at the same time first: one error of a fabric shows on all
    GPUs that had something under way there.
    """
    told = [one for one in past.at_once(event, WITHIN_S) if one.bus_id is not None]
    first = min(told, key=lambda one: (one.time_s, one.bus_id or ""), default=event)
    if first.bus_id is None or first.bus_id == event.bus_id:
        return ()
    gpu = past.gpu_at(first.bus_id)
    whom = Subject.of_bus(first.bus_id) if gpu is None else Subject.of_gpu(gpu)
    return (Cause("GpuXid", key=str(event.code), on=whom.name, within_s=WITHIN_S),)


@lru_cache(maxsize=256)
def _cause(code: int) -> Cause:
    return Cause("GpuXid", key=str(code), within_s=WITHIN_S)


def _before(event: KernelEvent, past: History, codes: Collection[int]) -> list[int]:
    """Which of some codes the same GPU told within seconds before, the earliest first.

    Where both lines name a process, it is the same one.
    """
    near = past.xids_near(codes, event.time_s, WITHIN_S, event.bus_id) if codes else ()
    first: dict[int, float] = {}
    for other in near:
        is_before = other.time_s <= event.time_s
        if is_before and other.code is not None and _is_of_one(event, other):
            first.setdefault(other.code, other.time_s)
    return sorted(first, key=lambda code: (first[code], not _is_grave(code), code))


def _is_of_one(one: KernelEvent, other: KernelEvent) -> bool:
    return None in (one.pid, other.pid) or one.pid == other.pid


def _is_grave(code: int) -> bool:
    return xid_fact(code).severity is CRITICAL
