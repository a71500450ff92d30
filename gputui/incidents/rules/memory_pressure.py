"""A GPU whose memory is about to run out, or nearly has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gputui.incidents.history import History
from gputui.incidents.rule import WARNING, Finding, Subject, after, rule
from gputui.model import Action, GpuSample, NodeSample

_TREND_S = 30.0
_RECENT_S = 10.0
_MIB = 1 << 20


@rule(
    kind="GpuMemoryPressure",
    severity=WARNING,
    holds=after(seconds=15),
    clears=after(seconds=60),
)
def memory_pressure(now: NodeSample, past: History) -> Iterator[Finding]:
    """Memory that keeps growing will be full at a time that can be told, minutes ahead.

    The trend is a straight line through the last half minute, and must still go on.
    """
    limits = past.thresholds
    for gpu in now.gpus:
        used, total = gpu.memory_used_bytes, gpu.memory_total_bytes
        if used is None or not total or used <= limits.memory_growing_share * total:
            continue
        rate = _bytes_per_s(past.series(gpu.index, _used, last_s=_TREND_S))
        full_in_s = (total - used) / rate if rate > 0 else float("inf")
        if full_in_s <= limits.memory_foreseen_s:
            cause = "leak"
            text = f"full in {_minutes(full_in_s)}, growing {rate / _MIB:.0f} MiB/s"
        elif used > limits.memory_full_share * total:
            cause, text = "shortage", f"{100 * used / total:.0f} % used"
        else:
            continue
        yield Finding(
            Subject.of_gpu(gpu),
            cause=cause,
            cause_text=text,
            action=Action.FREE_MEMORY,
            action_text="checkpoint, then restart with less memory"
            if cause == "leak"
            else "lower the batch size, or end a process",
            evidence=(f"{used / _MIB:.0f} of {total / _MIB:.0f} MiB used", *_largest(now, gpu)),
        )


def _used(gpu: GpuSample) -> int | None:
    return gpu.memory_used_bytes


def _bytes_per_s(series: Sequence[tuple[float, int]]) -> float:
    """The slope of the least-squares line; zero when memory did not grow just now."""
    if len(series) < 3:
        return 0.0
    last_s, last = series[-1]
    recent = next(value for time_s, value in series if last_s - time_s <= _RECENT_S)
    if last <= recent:
        return 0.0
    mean_s = sum(time_s for time_s, _ in series) / len(series)
    mean = sum(value for _, value in series) / len(series)
    spread = sum((time_s - mean_s) ** 2 for time_s, _ in series)
    if spread == 0:
        return 0.0
    return sum((time_s - mean_s) * (value - mean) for time_s, value in series) / spread


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _largest(now: NodeSample, gpu: GpuSample) -> Iterator[str]:
    """The process that holds most of it."""
    holders = [one for one in now.processes if one.gpu == gpu.index and one.memory_bytes]
    if holders:
        most = max(holders, key=lambda one: one.memory_bytes or 0)
        who = f"pid {most.pid}" + (f" of {most.user}" if most.user else "")
        yield f"{who} holds {(most.memory_bytes or 0) / _MIB:.0f} MiB: {most.command or '?'}"
