"""Processes on a GPU: their memory in bytes, their share of its utilization in percent."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct

from fakes.hardware.gpu import Gpu
from fakes.node import Node
from fakes.nvml.answer import Reach, Value, answers
from fakes.nvml.answers.utilization import SAMPLING_US
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import NO_INSTANCE

_V1 = Struct("<I4xQ")
_V2 = Struct("<I4xQII")
_DETAIL = Struct("<I4xQIIQ")
_SAMPLE = Struct("<I4xQ4I")
_UTILIZATION = Struct("<Q7I4x")
_COMPUTE, _GRAPHICS, _MPS, _ALL = range(4)


@answers("nvmlDeviceGetComputeRunningProcesses", reach=Reach.DRIVER)
def compute_processes_v1(gpu: Gpu, at_us: int) -> Value:
    """Processes with a compute context: PID and memory, 16 bytes each."""
    return b"".join([_V1.pack(pid, held) for pid, held in gpu.holders(at_us)])


@answers(
    "nvmlDeviceGetComputeRunningProcesses_v2",
    "nvmlDeviceGetComputeRunningProcesses_v3",
    reach=Reach.DRIVER,
)
def compute_processes(gpu: Gpu, at_us: int) -> Value:
    """Processes with a compute context: PID, memory and MIG instances, 24 bytes each."""
    return b"".join(
        [_V2.pack(pid, held, NO_INSTANCE, NO_INSTANCE) for pid, held in gpu.holders(at_us)]
    )


@answers(
    "nvmlDeviceGetGraphicsRunningProcesses",
    "nvmlDeviceGetGraphicsRunningProcesses_v2",
    "nvmlDeviceGetGraphicsRunningProcesses_v3",
    "nvmlDeviceGetMPSComputeRunningProcesses",
    "nvmlDeviceGetMPSComputeRunningProcesses_v2",
    "nvmlDeviceGetMPSComputeRunningProcesses_v3",
    reach=Reach.DRIVER,
)
def no_processes(gpu: Gpu, at_us: int) -> Value:
    """Processes with a graphics context, or of a multi-process service: none."""
    return b""


@answers("nvmlDeviceGetRunningProcessDetailList", reach=Reach.DRIVER)
def process_details(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """Processes of a mode (nvmlProcessMode_t): as above, with their protected memory, 32 bytes."""
    mode = words[1]
    if mode > _ALL:
        raise NvmlError(Code.INVALID_ARGUMENT)
    if mode in (_GRAPHICS, _MPS):
        return b""
    return b"".join(
        [_DETAIL.pack(pid, held, NO_INSTANCE, NO_INSTANCE, 0) for pid, held in gpu.holders(at_us)]
    )


@answers("nvmlDeviceGetProcessUtilization", node=True)
def process_utilization(gpu: Gpu, node: Node, at_us: int, last_seen_us: int) -> Value:
    """A sample, newer than a time stamp, of each process that was not idle: 32 bytes each.

    PID, stamp (microseconds since 1970), percent of SM, memory, encoder and decoder.
    """
    stamp_us = _stamp(node, at_us, last_seen_us)
    return _found(
        b"".join(_SAMPLE.pack(pid, stamp_us, sm, mem, 0, 0) for pid, sm, mem in _busy(gpu, at_us))
    )


@answers("nvmlDeviceGetProcessesUtilizationInfo", node=True)
def processes_utilization(gpu: Gpu, node: Node, at_us: int, words: tuple[int, ...]) -> Value:
    """The same, 40 bytes each: stamp, PID, percent of SM, memory and the four other engines."""
    stamp_us = _stamp(node, at_us, words[1] | words[2] << 32)
    return _found(
        b"".join(
            _UTILIZATION.pack(stamp_us, pid, sm, mem, 0, 0, 0, 0)
            for pid, sm, mem in _busy(gpu, at_us)
        )
    )


def _busy(gpu: Gpu, at_us: int) -> Iterator[tuple[int, int, int]]:
    """PID and percent of SM and of memory, of the processes that were not idle."""
    for pid in sorted(gpu.uses):
        if sm := gpu.process_utilization_percent(pid, at_us):
            yield pid, sm, gpu.process_memory_utilization_percent(pid, at_us)


def _stamp(node: Node, at_us: int, last_seen_us: int) -> int:
    """When the newest sample was taken. That no sample is newer than the last one seen fails."""
    stamp_us = node.epoch.unix_us(at_us // SAMPLING_US * SAMPLING_US)
    if stamp_us <= last_seen_us:
        raise NvmlError(Code.NOT_FOUND)
    return stamp_us


def _found(records: bytes) -> bytes:
    if not records:
        raise NvmlError(Code.NOT_FOUND)
    return records
