"""Frame buffer and BAR1, in bytes."""

from __future__ import annotations

from struct import Struct

from fakes.hardware.gpu import Gpu
from fakes.nvml.answer import Value, answers
from fakes.nvml.values import require, uint32
from fakes.profile import MIB

_MEMORY = Struct("<QQQ")
_MEMORY_V2 = Struct("<I4xQQQQ")
_SIZES = Struct("<QQ")


@answers("nvmlDeviceGetMemoryInfo")
def memory_info(gpu: Gpu, at_us: int) -> Value:
    """Total, free and used bytes. What the driver reserves counts as used."""
    total, _, free, _ = _memory(gpu, at_us)
    return _MEMORY.pack(total, free, total - free)


@answers("nvmlDeviceGetMemoryInfo_v2")
def memory_info_v2(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """Total, reserved, free and used bytes. What the driver reserves does not count as used."""
    return _MEMORY_V2.pack(words[0], *_memory(gpu, at_us))


@answers("nvmlDeviceGetBAR1MemoryInfo")
def bar1_memory_info(gpu: Gpu, at_us: int) -> Value:
    """Total, free and used bytes of the window to the host. Used is what processes hold, and 1 MiB.

    So in the captures: processes' memory is mapped whole.
    """
    total = gpu.profile.memory.bar1_mib * MIB
    used = min(total, gpu.memory_used_bytes(at_us) + MIB)
    return _MEMORY.pack(total, total - used, used)


@answers("nvmlDeviceGetMemoryBusWidth")
def memory_bus_width(gpu: Gpu, at_us: int) -> Value:
    """Bits."""
    return uint32(gpu.profile.memory.bus_width_bits)


@answers("nvmlDeviceGetConfComputeMemSizeInfo")
def conf_compute_memory_sizes(gpu: Gpu, at_us: int) -> Value:
    """KiB of protected and of unprotected memory: without confidential computing, none and all."""
    require(gpu.profile.can.confidential_computing)
    return _SIZES.pack(0, gpu.profile.memory.total_mib * 1024)


@answers("nvmlDeviceGetConfComputeProtectedMemoryUsage")
def conf_compute_protected_memory(gpu: Gpu, at_us: int) -> Value:
    """Total, free and used bytes of protected memory: none, on whatever model (captures)."""
    return _MEMORY.pack(0, 0, 0)


def _memory(gpu: Gpu, at_us: int) -> tuple[int, int, int, int]:
    """Total, reserved, free and used bytes."""
    total = gpu.profile.memory.total_mib * MIB
    reserved = gpu.profile.memory.reserved_mib * MIB
    used = gpu.memory_used_bytes(at_us)
    return total, reserved, total - reserved - used, used
