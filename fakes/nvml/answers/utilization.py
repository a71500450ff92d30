"""Utilization in percent, the samples behind it, and engines that nothing here uses."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct

from fakes.hardware.gpu import Gpu
from fakes.node import Node
from fakes.nvml.answer import Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import uint32

SAMPLING_US = 167_000
"""Utilization is sampled some six times a second."""

_SAMPLE_US = 1_000_000
_KEPT = 100
_PAIR = Struct("<II")
_TRIPLE = Struct("<III")
_SAMPLE = Struct("<QI4x")
_UNSIGNED_INT = 1


@answers("nvmlDeviceGetUtilizationRates")
def utilization_rates(gpu: Gpu, at_us: int) -> Value:
    """Percent of the last second in which a kernel ran, and in which memory was accessed."""
    return _PAIR.pack(*gpu.utilization_rates(at_us))


@answers(
    "nvmlDeviceGetEncoderUtilization",
    "nvmlDeviceGetDecoderUtilization",
    "nvmlDeviceGetJpgUtilization",
    "nvmlDeviceGetOfaUtilization",
)
def engine_utilization(gpu: Gpu, at_us: int) -> Value:
    """Percent, and the sampling period in microseconds. Training leaves the video engines idle."""
    return uint32(0), uint32(SAMPLING_US)


@answers("nvmlDeviceGetEncoderStats")
def encoder_stats(gpu: Gpu, at_us: int) -> Value:
    """Encoding sessions, their frames per second and latency: none."""
    return uint32(0), uint32(0), uint32(0)


@answers("nvmlDeviceGetFBCStats")
def frame_capture_stats(gpu: Gpu, at_us: int) -> Value:
    """Frame capture sessions, their frames per second and latency: none."""
    return _TRIPLE.pack(0, 0, 0)


@answers("nvmlDeviceGetEncoderSessions", "nvmlDeviceGetFBCSessions")
def no_sessions(gpu: Gpu, at_us: int) -> Value:
    """Sessions of encoding and of frame capture: none."""
    return b""


_SAMPLED: dict[int, Callable[[Gpu, int], int]] = {
    0: lambda gpu, at_us: gpu.power_mw(at_us),
    1: lambda gpu, at_us: gpu.utilization_percent(at_us),
    2: lambda gpu, at_us: gpu.memory_utilization_percent(at_us),
    3: lambda gpu, at_us: 0,
    4: lambda gpu, at_us: 0,
    5: lambda gpu, at_us: gpu.sm_clock_mhz(at_us),
    6: lambda gpu, at_us: gpu.memory_clock_mhz,
    8: lambda gpu, at_us: 0,
    9: lambda gpu, at_us: 0,
}
_MODULE_POWER = 7


@answers("nvmlDeviceGetSamples", node=True)
def samples(gpu: Gpu, node: Node, at_us: int, kind: int, last_seen_us: int) -> Value:
    """The type of the values, and samples of a kind (nvmlSamplingType_t) newer than a time stamp.

    One a second, up to a hundred; stamps are microseconds since 1970. They go back to when the
    GPU's conditions last changed: of what was before, the world keeps no readings.
    """
    if kind == _MODULE_POWER:
        raise NvmlError(Code.NOT_SUPPORTED)
    if kind not in _SAMPLED:
        raise NvmlError(Code.INVALID_ARGUMENT)
    newest_us = at_us // _SAMPLE_US * _SAMPLE_US
    oldest_us = max(gpu.changed_us, newest_us - (_KEPT - 1) * _SAMPLE_US)
    first_us = -(-oldest_us // _SAMPLE_US) * _SAMPLE_US
    records = b"".join(
        _SAMPLE.pack(stamp_us, _SAMPLED[kind](gpu, taken_us))
        for taken_us in range(first_us, newest_us + 1, _SAMPLE_US)
        if (stamp_us := node.epoch.unix_us(taken_us)) > last_seen_us
    )
    if not records:
        raise NvmlError(Code.NOT_FOUND)
    return uint32(_UNSIGNED_INT), records
