"""Power in milliwatts, energy in millijoules."""

from __future__ import annotations

from struct import Struct

from fakes.actions import Action, Effect
from fakes.hardware.gpu import Gpu
from fakes.node import Node
from fakes.nvml.answer import Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import uint32, uint64

_POWER_VALUE = Struct("<III")
_SCOPE_GPU = 0


@answers("nvmlDeviceGetPowerUsage")
def power_usage(gpu: Gpu, at_us: int) -> Value:
    """Milliwatts over the whole board, averaged over one second on Ampere and later."""
    return uint32(gpu.power_mw(at_us))


@answers("nvmlDeviceGetTotalEnergyConsumption")
def total_energy(gpu: Gpu, at_us: int) -> Value:
    """Millijoules since the driver was loaded."""
    return uint64(gpu.energy_mj(at_us))


@answers("nvmlDeviceGetPowerManagementMode")
def power_management_mode(gpu: Gpu, at_us: int) -> Value:
    """Whether power is managed: always."""
    return uint32(1)


@answers("nvmlDeviceGetPowerManagementLimit", "nvmlDeviceGetEnforcedPowerLimit")
def power_limit(gpu: Gpu, at_us: int) -> Value:
    """The limit that was set. Nothing else limits this board, so it is the one enforced."""
    return uint32(gpu.power_limit_mw)


@answers("nvmlDeviceGetPowerManagementDefaultLimit")
def default_power_limit(gpu: Gpu, at_us: int) -> Value:
    """The limit that the board starts with."""
    return uint32(gpu.profile.power.limit_mw)


@answers("nvmlDeviceGetPowerManagementLimitConstraints")
def power_limit_constraints(gpu: Gpu, at_us: int) -> Value:
    """The lowest and the highest limit that can be set."""
    power = gpu.profile.power
    return uint32(power.limit_min_mw), uint32(power.limit_max_mw)


@answers("nvmlDeviceGetPowerSource")
def power_source(gpu: Gpu, at_us: int) -> Value:
    """NVML_POWER_SOURCE_*: mains."""
    return uint32(0)


@answers("nvmlDeviceSetPowerManagementLimit", node=True, changes=True)
def set_power_limit(gpu: Gpu, node: Node, at_us: int, limit_mw: int) -> Value:
    """Cap the board's power. A limit beyond the constraints is an invalid argument."""
    power = gpu.profile.power
    if not power.limit_min_mw <= limit_mw <= power.limit_max_mw:
        raise NvmlError(Code.INVALID_ARGUMENT)
    gpu.set_power_limit(limit_mw, at_us)
    told = f"{limit_mw / 1000:g} W"
    node.actions.note(Action(at_us, Effect.SET_POWER_LIMIT, node.name, gpu.index, detail=told))
    return ()


@answers("nvmlDeviceSetPowerManagementLimit_v2", node=True, changes=True)
def set_power_limit_v2(gpu: Gpu, node: Node, at_us: int, power_value: bytes) -> Value:
    """Cap the power of the GPU; there is no module round it to cap."""
    _, scope, limit_mw = _POWER_VALUE.unpack(power_value)
    if scope != _SCOPE_GPU:
        raise NvmlError(Code.NOT_SUPPORTED)
    return set_power_limit(gpu, node, at_us, limit_mw)
