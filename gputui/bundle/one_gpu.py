"""What of a node concerns one of its GPUs: a ticket on a board says nothing of its neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from gputui.bundle.redaction import OTHER_BOARD
from gputui.bus import parse_bus_id
from gputui.doctor.site import Site
from gputui.model import Incident, NodeSample, Snapshot

OF_THE_NODE = frozenset({"power"})
"""Checks whose answer is of all GPUs together."""

_ADDRESS = re.compile(
    r"(?<![0-9a-f])[0-9a-f]{4,16}:[0-9a-f]{2}:[0-9a-f]{2}(?:\.[0-7])?(?![0-9a-f:])", re.I
)
_OF_LINKS = frozenset({"NvlinkDown", "NvlinkErrors"})
_DRIVERS = ("NVRM:", "nvidia")
"""How the driver begins its lines: one that names no GPU goes on about the last one named."""


def narrowed(site: Site, gpu: int) -> Site:
    """The site as if it had this GPU alone. What was expected of the others is left out."""
    snapshot = site.snapshot
    if snapshot is None:
        return site
    pairs = zip(snapshot.sample.gpus, snapshot.statuses, strict=True)
    mine = [pair for pair in pairs if pair[0].index == gpu]
    bus_ids = {one.bus_id for one, _ in mine}
    pids = {one.pid for one in snapshot.sample.processes if one.gpu == gpu}
    sample = replace(
        snapshot.sample,
        gpu_count=len(mine),
        gpus=tuple(one for one, _ in mine),
        processes=tuple(one for one in snapshot.sample.processes if one.gpu == gpu),
        ancestors=(),
        listeners=tuple(one for one in snapshot.sample.listeners if one.pid in pids),
        on_bus=None
        if snapshot.sample.on_bus is None
        else tuple(one for one in snapshot.sample.on_bus if one.bus_id in bus_ids),
    )
    narrow = replace(
        snapshot,
        sample=sample,
        statuses=tuple(status for _, status in mine),
        incidents=_concerning(snapshot, snapshot.incidents, gpu),
        recent=_concerning(snapshot, snapshot.recent, gpu),
    )
    return replace(site, snapshot=narrow, config=replace(site.config, expected_gpus=None))


def _concerning(
    snapshot: Snapshot, incidents: Iterable[Incident], gpu: int
) -> tuple[Incident, ...]:
    """Those of the GPU and of the whole node, and those of jobs that run on it."""
    sample = snapshot.sample
    mine = next((one for one in sample.gpus if one.index == gpu), None)
    names = {f"gpu:{name}" for name in (mine.uuid, mine.bus_id) if name} if mine else set()
    jobs = {f"job:{one.job}" for one in sample.processes if one.gpu == gpu and one.job}
    taken: list[Incident] = []
    for one in incidents:
        sort = one.subject.partition(":")[0]
        is_mine = one.gpu == gpu or one.subject in names | jobs
        is_the_nodes = one.gpu is None and sort not in ("gpu", "job")
        is_under = one.gpu is None and any(one.parent == other.id for other in taken)
        if is_mine or is_the_nodes or is_under or _is_other_end(one, gpu):
            taken.append(one)
    return tuple(taken)


def _is_other_end(incident: Incident, gpu: int) -> bool:
    """Whether a link to this GPU is what fails at another one."""
    if incident.kind not in _OF_LINKS:
        return False
    told = " ".join((incident.cause_text, *incident.evidence))
    return re.search(rf"\bGPU {gpu}\b", told) is not None


def lines_of(lines: Iterable[str], sample: NodeSample | None, gpu: int) -> Iterator[str]:
    """The lines of a kernel log on one GPU.

    Those that name it, a bridge above it, or no GPU at all: what the driver says of itself. Boards
    are also told without an address, on lines behind one that has it (``NVRM: GPU Board Serial
    Number``).
    """
    mine, others = _names(sample, gpu)
    is_others = False
    for line in lines:
        addresses = {parse_bus_id(found) for found in _ADDRESS.findall(line)}
        if addresses & mine or any(name in line for name in mine):
            is_others = False
        elif addresses or any(name in line for name in others):
            is_others = True
        elif not any(word in line for word in _DRIVERS):
            continue
        if not is_others:
            yield line


def _names(sample: NodeSample | None, gpu: int) -> tuple[set[str], set[str]]:
    """What the GPU is called in a log, and what the other GPUs are."""
    mine: set[str] = set()
    others: set[str] = set()
    for one in sample.gpus if sample else ():
        called = {name for name in (one.uuid, one.bus_id, one.serial) if name}
        (mine if one.index == gpu else others).update(called)
    for on_bus in (sample.on_bus or ()) if sample else ():
        if on_bus.bus_id in mine:
            mine.update(on_bus.above[-1:])
    return mine, others


def boards(sample: NodeSample | None, gpu: int) -> dict[str, str]:
    """What names other boards, and the word for each that tells no more than which GPU it is."""
    return {
        name: f"{OTHER_BOARD}{one.index}"
        for one in (sample.gpus if sample else ())
        if one.index != gpu
        for name in (one.serial, one.uuid)
        if name
    }
