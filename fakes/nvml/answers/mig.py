"""Multi-instance GPU: there are modes to read and to set, and no instances."""

from __future__ import annotations

from fakes.hardware.gpu import Gpu
from fakes.nvml.answer import Reach, Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import require, uint32

_MOST_INSTANCES = 7


@answers("nvmlDeviceGetMigMode")
def mig_mode(gpu: Gpu, at_us: int) -> Value:
    """Whether MIG is on now, and after the next reset."""
    require(gpu.profile.can.mig)
    return uint32(gpu.settings.mig), uint32(gpu.settings.mig_pending)


@answers("nvmlDeviceGetMaxMigDeviceCount")
def max_mig_devices(gpu: Gpu, at_us: int) -> Value:
    """How many MIG devices there can be: zero while MIG is off (nvml.h)."""
    return uint32(_MOST_INSTANCES if gpu.settings.mig else 0)


@answers("nvmlDeviceIsMigDeviceHandle", reach=Reach.DRIVER)
def is_mig_device(gpu: Gpu, at_us: int) -> Value:
    """Whether a handle is a MIG device's."""
    return uint32(0)


@answers("nvmlDeviceGetMigDeviceHandleByIndex")
def mig_device_by_index(gpu: Gpu, at_us: int, index: int) -> Value:
    """The MIG device with an index: there is none."""
    require(gpu.profile.can.mig)
    raise NvmlError(Code.NOT_FOUND)


@answers(
    "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
    "nvmlDeviceGetGpuInstanceId",
    "nvmlDeviceGetComputeInstanceId",
)
def of_a_mig_device(gpu: Gpu, at_us: int) -> Value:
    """Parent and instances of a MIG device, asked of a GPU that is none."""
    raise NvmlError(Code.INVALID_ARGUMENT)
