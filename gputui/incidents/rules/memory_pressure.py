"""A GPU whose memory is about to run out, or nearly has."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import INFO, WARNING, Finding, Subject, after, rule, samples
from gputui.incidents.trend import steady_growth
from gputui.model import Action, GpuSample, NodeSample, ProcessSample

_SHORT_S, _LONG_S = 36.0, 90.0
"""How far back growth is looked for: in the shorter time too, for a step may stand before it."""

_STEADY_S = 30.0
"""Growth has to be steady for so long: a model is loaded, and a step taken, in less."""

_LOADING = 0.8, 1.25
"""What a process that loads holds, as a share of what it would by its present growth."""

_MIB = 1 << 20


@rule(
    kind="GpuMemoryPressure",
    severity=WARNING,
    holds=samples(3),
    clears=after(seconds=60),
)
def memory_pressure(now: NodeSample, past: History) -> Iterator[Finding]:
    """Memory that keeps growing will be full at a time that can be told, minutes ahead.

    Time to full is (total - reserved - used) / slope, with the slope that
    :mod:`gputui.incidents.trend` finds in the last half minute, or minute and a half. It warns at
    ``memory_foreseen`` (5 min: time to write a checkpoint) from ``memory_growing`` of the total on.
    A process that has grown at that slope ever since it started is one that loads its model, until
    it passes ``memory_full``.

    Memory that is nearly full and stays so is what a caching allocator makes of it (PyTorch keeps
    what it once had; vLLM takes 90 % at its start): information above ``memory_full``, and a
    warning only above ``memory_brim``, where not even a CUDA context (about 0.5 GiB) has room.
    """
    limits = past.thresholds
    for gpu in now.gpus:
        used, total = gpu.memory_used_bytes, gpu.memory_total_bytes
        if used is None or not total or used <= limits.memory_growing_share * total:
            continue
        is_full = used > limits.memory_full_share * total
        slope = _slope(gpu, past)
        largest = _largest(now, gpu)
        free = max(total - (gpu.memory_reserved_bytes or 0) - used, 0)
        full_in_s = free / slope if slope else float("inf")
        if (
            slope
            and full_in_s <= limits.memory_foreseen_s
            and (is_full or not _is_loading(largest, slope))
        ):
            yield Finding(
                Subject.of_gpu(gpu),
                cause="leak",
                cause_text=f"full in {_minutes(full_in_s)}, growing {slope / _MIB:.0f} MiB/s",
                action=Action.FREE_MEMORY,
                action_text="checkpoint, then restart with less memory",
                evidence=(_reading(used, total), *_holder(largest)),
            )
        elif is_full:
            brim = used > limits.memory_brim_share * total
            yield Finding(
                Subject.of_gpu(gpu),
                cause="shortage",
                cause_text=f"{100 * used / total:.0f} % used" + (", no room left" if brim else ""),
                action=Action.FREE_MEMORY,
                action_text="lower the batch size, or end a process",
                evidence=(_reading(used, total), *_holder(largest)),
                severity=WARNING if brim else INFO,
            )


def _used(gpu: GpuSample) -> int | None:
    return gpu.memory_used_bytes


def _slope(gpu: GpuSample, past: History) -> float | None:
    """Bytes a second, where memory grows steadily."""
    series = past.series(gpu.index, _used, last_s=_SHORT_S)
    if series[-1][1] <= series[0][1]:
        return None
    slope = steady_growth(series, least_s=_STEADY_S)
    if slope is None:
        slope = steady_growth(past.series(gpu.index, _used, last_s=_LONG_S), least_s=_STEADY_S)
    return slope


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def _reading(used: int, total: int) -> str:
    return f"{used / _MIB:.0f} of {total / _MIB:.0f} MiB used"


def _largest(now: NodeSample, gpu: GpuSample) -> ProcessSample | None:
    """The process that holds most of it."""
    holders = [one for one in now.processes if one.gpu == gpu.index and one.memory_bytes]
    return max(holders, key=lambda one: one.memory_bytes or 0, default=None)


def _is_loading(largest: ProcessSample | None, slope: float) -> bool:
    """Whether a process holds what it would if it had always grown as it grows now."""
    if largest is None or largest.running_s is None:
        return False
    held, loaded = largest.memory_bytes or 0, slope * largest.running_s
    return _LOADING[0] * loaded <= held <= _LOADING[1] * loaded


def _holder(largest: ProcessSample | None) -> Iterator[str]:
    if largest is not None:
        who = f"pid {largest.pid}" + (f" of {largest.user}" if largest.user else "")
        held = f"{(largest.memory_bytes or 0) / _MIB:.0f} MiB"
        yield f"{who} holds {held}: {largest.command or '?'}"
