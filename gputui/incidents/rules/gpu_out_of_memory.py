"""A job that found no GPU memory: too little, too scattered, or somebody else's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, is_outdone, job_finding, told
from gputui.incidents.rule import INFO, WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent
from gputui.model import Action

_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_SIZE = re.compile(r"([\d.]+) ?(bytes|[KMGT]iB)?")
_OTHERS = re.compile(r"Process (\d+) has ([\d.]+ (?:[KMGT]iB|bytes)) memory in use")

_NEIGHBOUR_SHARE = 0.1
"""What others hold matters from a tenth of the GPU on: a CUDA context alone takes half a GiB."""

_CONTEXT_BYTES = 2 << 30
"""Memory that PyTorch 2.0 and older do not account for: CUDA's context, NCCL, cuDNN."""

_MOST_NAMED = 4

_EXPANDABLE = "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (2.9: PYTORCH_ALLOC_CONF)"


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What PyTorch tells with its error, in bytes; zero where it does not tell.

    ``idle`` is reserved by its allocator but not in use, ``others`` is held by other processes;
    ``holders`` are those of them that are named: PID and bytes, the biggest first.
    """

    want: int
    total: int
    free: int
    idle: int
    others: int
    holders: tuple[tuple[int, int], ...]


@job_rule(kind="GpuOutOfMemory", severity=WARNING, clears=QUIET)
def gpu_out_of_memory(event: JobEvent, past: History) -> Iterator[Finding]:
    """The numbers in PyTorch's text tell why; of another text the facts know it.

    Enough reserved but idle, and the memory is in pieces; much held by another process, and that
    one is in the way, or is left over if it has ended; else there is simply too little. What the
    job's own logger calls a warning is one that it goes on from.
    """
    fact = told(event, "GpuOutOfMemory")
    if fact is None or not decides(event, fact, past) or is_outdone(event, fact, past, _is_mild):
        return
    severity = INFO if _is_mild(event) else WARNING
    if fact.cause != "shortage":
        yield job_finding(event, fact, past, severity=severity, gpu=event.gpu)
        return
    numbers = _numbers(event)
    cause, text, action, advice = _blame(numbers, past)
    wanted = f"{_shown(numbers.want)} wanted, {_shown(numbers.free)} free" if numbers.total else ""
    yield job_finding(
        event,
        fact,
        past,
        cause=cause,
        cause_text="; ".join(part for part in (text, wanted) if part) or None,
        action=action,
        action_text=advice,
        severity=severity,
        gpu=event.gpu,
    )


def _is_mild(event: JobEvent) -> bool:
    return event.field("level") in ("debug", "info", "warning")


def _blame(numbers: _Numbers, past: History) -> tuple[str, str, Action, str | None]:
    if numbers.others >= _NEIGHBOUR_SHARE * max(numbers.total, 1) and numbers.total:
        held = _shown(numbers.others)
        ended = next((one for one in numbers.holders if _has_ended(one[0], past)), None)
        if ended is not None and ended[1] >= _NEIGHBOUR_SHARE * numbers.total:
            return (
                "zombie",
                f"process {ended[0]}, which has ended, holds {_shown(ended[1])}",
                Action.FREE_MEMORY,
                f"fuser -v /dev/nvidia*; end what is left of process {ended[0]}",
            )
        if numbers.holders:
            pid, most = numbers.holders[0]
            count = len(numbers.holders)
            return (
                "neighbour",
                f"process {pid} holds {held} of the same GPU"
                if count == 1
                else f"{count} processes hold {held} of the same GPU, "
                f"process {pid} the most ({_shown(most)})",
                Action.FREE_MEMORY,
                f"ps -fp {','.join(str(pid) for pid, _ in numbers.holders[:_MOST_NAMED])}: end "
                f"{'it' if count == 1 else 'them'}, or set CUDA_VISIBLE_DEVICES to another GPU",
            )
        return (
            "neighbour",
            f"other processes hold {held} of the same GPU",
            Action.FREE_MEMORY,
            "nvidia-smi --query-compute-apps=pid,used_memory --format=csv; end it, or use another "
            "GPU (CUDA_VISIBLE_DEVICES)",
        )
    if numbers.want and numbers.idle >= numbers.want:
        return (
            "fragmentation",
            f"{_shown(numbers.idle)} reserved by PyTorch but idle, in pieces",
            Action.CHECK_CONFIG,
            _EXPANDABLE,
        )
    return "shortage", "", Action.FREE_MEMORY, None


def _has_ended(pid: int, past: History) -> bool:
    return any(
        one.unreachable is not None and "ended" in one.unreachable for one in past.process(pid)
    )


def _numbers(event: JobEvent) -> _Numbers:
    total, free = _bytes(event, "total"), _bytes(event, "free")
    named = [(int(pid), _parsed(size)) for pid, size in _OTHERS.findall(event.text)]
    holders = [one for one in named if not _is_the_job(one[1], event, total)]
    holders.sort(key=lambda one: one[1], reverse=True)
    held = sum(size for _, size in holders)
    idle = _bytes(event, "unused")
    reserved = _bytes(event, "resv")
    if reserved:
        idle = reserved - _bytes(event, "alloc")
        unaccounted = total - free - reserved
        held = unaccounted if unaccounted > _CONTEXT_BYTES else 0
    return _Numbers(_bytes(event, "want"), total, free, idle, held, tuple(holders))


def _is_the_job(size: int, event: JobEvent, total: int) -> bool:
    """Whether a process that is named is the job itself, under the PID of another namespace.

    A container's processes have other PIDs outside; what holds more than the job leaves of the GPU
    can be nobody else.
    """
    return event.field("self") is None and size + _bytes(event, "alloc") > total > 0


def _bytes(event: JobEvent, name: str) -> int:
    return _parsed(event.field(name) or "")


def _parsed(text: str) -> int:
    found = _SIZE.match(text)
    return round(float(found[1]) * _UNITS[found[2] or "bytes"]) if found else 0


def _shown(count: int) -> str:
    for unit in ("TiB", "GiB", "MiB", "KiB"):
        if count >= _UNITS[unit]:
            return f"{count / _UNITS[unit]:.1f} {unit}"
    return f"{count} bytes"
