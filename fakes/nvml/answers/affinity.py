"""Which processors and which memory are near a GPU."""

from __future__ import annotations

from collections.abc import Iterable

from fakes.hardware.gpu import Gpu
from fakes.nvml.answer import Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.system.machine import cpus_of, numa_node_of

_WORD_BITS = 64
_NODE, _SOCKET = 0, 1


@answers("nvmlDeviceGetCpuAffinity")
def cpu_affinity(gpu: Gpu, at_us: int) -> Value:
    """The processors of its NUMA node, as a bit mask in words of 64."""
    return _mask(cpu for part in cpus_of(numa_node_of(gpu.index)) for cpu in part)


@answers("nvmlDeviceGetCpuAffinityWithinScope")
def cpu_affinity_within(gpu: Gpu, at_us: int, scope: int) -> Value:
    """The same; a NUMA node is a socket here."""
    _check(scope)
    return cpu_affinity(gpu, at_us)


@answers("nvmlDeviceGetMemoryAffinity")
def memory_affinity(gpu: Gpu, at_us: int, scope: int) -> Value:
    """Its NUMA node, as a bit mask."""
    _check(scope)
    return _mask((numa_node_of(gpu.index),))


def _mask(numbers: Iterable[int]) -> bytes:
    bits = sum(1 << number for number in numbers)
    words = -(-bits.bit_length() // _WORD_BITS)
    return bits.to_bytes(words * _WORD_BITS // 8, "little")


def _check(scope: int) -> None:
    if scope not in (_NODE, _SOCKET):
        raise NvmlError(Code.INVALID_ARGUMENT)
