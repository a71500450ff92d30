"""``--once``: a table for people, that a log or a ticket can hold as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from gputui.age import age
from gputui.export import around
from gputui.export.words import cause_words, gib, or_dash, watts
from gputui.model import GpuSample, GpuState, Incident, NodeSample, ProcessSample, Snapshot
from gputui.recording import state_s

_MOST_PROCESSES = 30
_COMMAND_WIDTH = 60

_COLUMNS: tuple[tuple[str, Callable[[ProcessSample], str], bool], ...] = (
    ("PID", lambda one: str(one.pid), True),
    ("USER", lambda one: or_dash(one.user), False),
    ("GPU", lambda one: str(one.gpu), True),
    ("JOB", lambda one: or_dash(one.job), False),
    ("SM", lambda one: or_dash(one.sm_percent, "%"), True),
    ("MEMORY GiB", lambda one: gib(one.memory_bytes), True),
    ("CPU", lambda one: "-" if one.cpu_percent is None else f"{one.cpu_percent:.0f}%", True),
    ("HOST GiB", lambda one: gib(one.host_memory_bytes), True),
    ("TIME", lambda one: "-" if one.running_s is None else age(one.running_s), True),
    ("COMMAND", lambda one: (one.command or "-")[:_COMMAND_WIDTH], False),
)
"""Of the processes: title, cell, and whether it stands at the right. Jobs only where there are."""


def write(snapshot: Snapshot) -> str:
    """GPUs with their states, then incidents, the machine around them, and processes."""
    sample = snapshot.sample
    parts = [_title(sample), _gpus(snapshot)]
    if snapshot.incidents:
        parts.append(_incidents(snapshot))
    if snapshot.recent:
        parts.append(_recent(snapshot))
    parts += around.lines(sample)
    if sample.processes:
        parts.append(_processes(sample))
    parts += [f"note: {notice}" for notice in snapshot.notices]
    return "\n".join(part for part in parts if part) + "\n"


def _title(sample: NodeSample) -> str:
    models = Counter(gpu.name or "unknown GPU" for gpu in sample.gpus)
    parts = [sample.host, *(f"{count}x {name}" for name, count in models.most_common())]
    if sample.driver:
        parts.append(f"driver {sample.driver}")
    if sample.cuda:
        parts.append(f"CUDA {sample.cuda}")
    return "  ".join(parts)


def _gpus(snapshot: Snapshot) -> str:
    if not snapshot.sample.gpus:
        return ""
    rows: list[tuple[str, ...]] = [
        ("GPU", "STATE", "UTIL", "MEMORY GiB", "TEMP", "POWER W", "SM MHz"),
    ]
    notes = []
    for gpu, status in zip(snapshot.sample.gpus, snapshot.statuses, strict=True):
        state = status.state.label
        if status.state is not GpuState.OK and not status.since_start:
            state += f" {age(state_s(status, snapshot.sample.time_s))}"
        if status.age_s or not _readable(gpu):
            rows.append((str(gpu.index), state, *("-",) * 5))
        else:
            rows.append((str(gpu.index), state, *_readings(gpu)))
        notes.append(status.reason)
    lines = _aligned(rows, right={0, 2, 4, 6})
    return "\n".join(
        line if not note else f"{line}  {note}"
        for line, note in zip(lines, ["", *notes], strict=True)
    )


def _readable(gpu: GpuSample) -> bool:
    return gpu.utilization_percent is not None or gpu.memory_used_bytes is not None


def _readings(gpu: GpuSample) -> tuple[str, ...]:
    return (
        or_dash(gpu.utilization_percent, "%"),
        f"{gib(gpu.memory_used_bytes)}/{gib(gpu.memory_total_bytes)}",
        or_dash(gpu.temperature_c, "C"),
        f"{watts(gpu.power_mw)}/{watts(gpu.power_limit_mw)}",
        or_dash(gpu.sm_clock_mhz),
    )


def _incidents(snapshot: Snapshot) -> str:
    lines = ["INCIDENTS"]
    for incident in snapshot.incidents:
        indent = "  " if incident.parent else ""
        lines.append(f"{indent}{incident_line(incident, snapshot.sample.time_s)}")
    return "\n".join(lines)


def _recent(snapshot: Snapshot) -> str:
    now_s = snapshot.sample.time_s
    return "\n".join(["RECENT", *(_over_line(one, now_s) for one in snapshot.recent)])


def _over_line(incident: Incident, time_s: float) -> str:
    """An incident that is over: when, after how long, what it was."""
    cleared_s = time_s if incident.cleared_s is None else incident.cleared_s
    whom = incident.subject if incident.gpu is None else f"GPU {incident.gpu}"
    count = f" x{incident.count}" if incident.count > 1 else ""
    return (
        f"cleared {age(time_s - cleared_s)} ago, lasted {age(cleared_s - incident.opened_s)}  "
        f"{incident.kind} {whom}  {incident.cause}: {incident.cause_text}{count}"
    )


def incident_line(incident: Incident, time_s: float) -> str:
    """An incident in one line: how bad, what, who, since when, why, what to do."""
    whom = incident.subject if incident.gpu is None else f"GPU {incident.gpu}"
    count = f" x{incident.count}" if incident.count > 1 else ""
    since = age(time_s - incident.opened_s)
    return (
        f"{incident.severity.word:<8} {incident.kind} {whom} {since}  "
        f"{incident.cause}: {cause_words(incident, time_s)}{count}  > {incident.action_text}"
    )


def _processes(sample: NodeSample) -> str:
    ordered = sorted(sample.processes, key=lambda one: (-(one.memory_bytes or 0), one.pid))
    shown = ordered[:_MOST_PROCESSES]
    columns = [column for column in _COLUMNS if column[0] != "JOB" or any(p.job for p in shown)]
    rows = [
        tuple(title for title, _, _ in columns),
        *(tuple(cell(one) for _, cell, _ in columns) for one in shown),
    ]
    numeric = [position for position, (_, _, at_right) in enumerate(columns) if at_right]
    lines = ["PROCESSES", *_aligned(rows, right=numeric)]
    more = len(ordered) - _MOST_PROCESSES
    return "\n".join([*lines, f"... and {more} more"] if more > 0 else lines)


def _aligned(rows: Sequence[tuple[str, ...]], right: Iterable[int]) -> list[str]:
    """Rows as lines, each column as wide as its widest cell; ``right`` names numeric columns."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    numeric = frozenset(right)
    return [
        "  ".join(
            cell.rjust(width) if position in numeric else cell.ljust(width)
            for position, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
