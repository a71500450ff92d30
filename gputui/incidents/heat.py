"""Which GPUs are hot, and which have switched themselves off for it."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.neighbours import answering
from gputui.model import THERMAL_REASONS, ClockReasons, GpuSample, NodeSample
from gputui.sources.reasons import LOST_CODES, MISSING

NEAR_SHUTDOWN_K = 3
"""As close to its shutdown as this a GPU is, a second before it."""

HELD_SHARE = 0.6
"""The hardware held clocks down for three fifths of the time between two readings."""

_HELD = "violation_hw_thermal_ns"
_GONE = LOST_CODES | {MISSING}


def is_slowed(gpu: GpuSample) -> bool:
    """Whether it lowers its clocks because of heat, by its own word."""
    return bool((gpu.clock_reasons or 0) & THERMAL_REASONS)


def is_held(gpu: GpuSample, past: History, now_s: float) -> bool:
    """Whether the hardware holds its clocks down most of the time, by its own counter.

    The counter misses nothing between two samples; the bit does.
    """
    return past.counters.per_s(gpu, _HELD, now_s) >= HELD_SHARE * 1e9


def until_held(now: NodeSample, past: History) -> Iterator[float]:
    """When the counters of those that are held only by them will have stopped."""
    for gpu in answering(now):
        if not is_slowed(gpu) and is_held(gpu, past, now.time_s):
            stopped_s = past.counters.stopped_s(gpu, _HELD)
            yield (stopped_s or now.time_s) + 1.0


def hot_gpus(now: NodeSample, past: History) -> list[GpuSample]:
    """Those that lower their clocks because of heat."""
    told = answering(now)
    return [gpu for gpu in told if is_slowed(gpu) or is_held(gpu, past, now.time_s)]


def shut_down(now: NodeSample, past: History) -> list[GpuSample]:
    """The last readings of GPUs that no longer answer, and were about to switch themselves off."""
    found = []
    for gpu in now.gpus:
        last = past.counters.last(gpu) if gpu.return_code in _GONE else None
        if last is not None and _was_about_to(last):
            found.append(last)
    return found


def is_room(now: NodeSample, past: History) -> bool:
    """Whether all GPUs that still answer are hot, or none is left."""
    return len(hot_gpus(now, past)) == len(answering(now))


def _was_about_to(last: GpuSample) -> bool:
    if (last.clock_reasons or 0) & ClockReasons.HW_THERMAL_SLOWDOWN:
        return True
    if last.temperature_c is None or last.temperature_shutdown_c is None:
        return False
    return last.temperature_c >= last.temperature_shutdown_c - NEAR_SHUTDOWN_K
