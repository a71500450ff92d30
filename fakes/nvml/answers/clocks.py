"""Clocks in MHz, the performance state, and why clocks are lower than they could be."""

from __future__ import annotations

from struct import Struct

from fakes.hardware.gpu import Gpu
from fakes.hardware.thermal import Limit
from fakes.node import Node
from fakes.nvml.answer import Value, answers
from fakes.nvml.codes import Code, NvmlError
from fakes.nvml.values import uint32, uint64

_GRAPHICS, _SM, _MEMORY, _VIDEO = range(4)
_CURRENT, _APPLICATION_TARGET, _APPLICATION_DEFAULT, _CUSTOMER_BOOST_MAX = range(4)
_VIOLATION = Struct("<QQ")

_REASONS = {
    Limit.NONE: 0,
    Limit.IDLE: 0x1,
    Limit.SETTING: 0x2,
    Limit.POWER: 0x4,
    Limit.BRAKE: 0,
    Limit.HEAT: 0x20,
    Limit.HARDWARE_HEAT: 0x40 | 0x8,
}
_BRAKED = 0x80 | 0x8
_ALL_REASONS = 0x1FF

_POLICIES = {
    0: (Limit.POWER,),
    1: (Limit.HEAT, Limit.HARDWARE_HEAT),
    2: (),
    3: (),
    4: (),
    5: (),
    10: (Limit.POWER, Limit.BRAKE, Limit.HEAT, Limit.HARDWARE_HEAT),
    11: (Limit.HARDWARE_HEAT,),
}


@answers("nvmlDeviceGetClockInfo")
def clock_info(gpu: Gpu, at_us: int, domain: int) -> Value:
    """The present clock of a domain (nvmlClockType_t)."""
    if domain == _MEMORY:
        return uint32(gpu.memory_clock_mhz)
    if domain == _VIDEO:
        return uint32(gpu.video_clock_mhz(at_us))
    if domain in (_GRAPHICS, _SM):
        return uint32(gpu.sm_clock_mhz(at_us))
    raise NvmlError(Code.INVALID_ARGUMENT)


@answers("nvmlDeviceGetMaxClockInfo")
def max_clock_info(gpu: Gpu, at_us: int, domain: int) -> Value:
    """The highest clock of a domain."""
    clocks = gpu.profile.clocks
    if domain > _VIDEO:
        raise NvmlError(Code.INVALID_ARGUMENT)
    return uint32((clocks.max_mhz, clocks.max_mhz, clocks.memory_mhz, clocks.video_max_mhz)[domain])


@answers("nvmlDeviceGetApplicationsClock")
def applications_clock(gpu: Gpu, at_us: int, domain: int) -> Value:
    """The clock that applications ask for: the highest, unless somebody set another."""
    if gpu.settings.application_mhz and domain <= _MEMORY:
        memory_mhz, sm_mhz = gpu.settings.application_mhz
        return uint32(memory_mhz if domain == _MEMORY else sm_mhz)
    return fixed_clock(gpu, at_us, domain)


@answers(
    "nvmlDeviceGetDefaultApplicationsClock",
    "nvmlDeviceGetMaxCustomerBoostClock",
)
def fixed_clock(gpu: Gpu, at_us: int, domain: int) -> Value:
    """The clock that applications ask for by default, and a customer at most: the highest.

    The video clock follows the SM's and has none of its own.
    """
    if domain == _VIDEO:
        raise NvmlError(Code.NOT_SUPPORTED)
    return max_clock_info(gpu, at_us, domain)


@answers("nvmlDeviceGetClock")
def clock(gpu: Gpu, at_us: int, domain: int, which: int) -> Value:
    """One of a domain's clocks (nvmlClockId_t): present, asked for, by default, highest."""
    if which == _CURRENT:
        return clock_info(gpu, at_us, domain)
    if which == _APPLICATION_TARGET:
        return applications_clock(gpu, at_us, domain)
    if which in (_APPLICATION_DEFAULT, _CUSTOMER_BOOST_MAX):
        return fixed_clock(gpu, at_us, domain)
    raise NvmlError(Code.INVALID_ARGUMENT)


@answers("nvmlDeviceGetSupportedMemoryClocks")
def supported_memory_clocks(gpu: Gpu, at_us: int) -> Value:
    """The memory clocks that can be asked for, from the highest down."""
    clocks = gpu.profile.clocks
    return b"".join(map(uint32, sorted({clocks.memory_mhz, clocks.memory_idle_mhz}, reverse=True)))


@answers("nvmlDeviceGetSupportedGraphicsClocks")
def supported_graphics_clocks(gpu: Gpu, at_us: int, memory_mhz: int) -> Value:
    """The SM clocks that can be asked for beside a memory clock, from the highest down.

    Beside the memory's idle clock that is the SMs' own.
    """
    clocks = gpu.profile.clocks
    if memory_mhz == clocks.memory_mhz:
        highest_mhz = clocks.max_mhz
    elif memory_mhz == clocks.memory_idle_mhz:
        highest_mhz = clocks.idle_mhz
    else:
        raise NvmlError(Code.NOT_FOUND)
    return b"".join(map(uint32, range(highest_mhz, clocks.min_mhz - 1, -clocks.step_mhz)))


@answers("nvmlDeviceGetPerformanceState", "nvmlDeviceGetPowerState")
def performance_state(gpu: Gpu, at_us: int) -> Value:
    """The N of PN: modules for data centres stay in P0, idle or not; cards do not (captures)."""
    return uint32(gpu.performance_state)


@answers("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons")
def clocks_event_reasons(gpu: Gpu, at_us: int) -> Value:
    """Why clocks are lower than they could be (nvmlClocksEventReason*)."""
    reasons = _REASONS[gpu.limit(at_us)]
    return uint64(reasons | _BRAKED if gpu.conditions.braked else reasons)


@answers("nvmlDeviceGetSupportedClocksEventReasons", "nvmlDeviceGetSupportedClocksThrottleReasons")
def supported_clocks_event_reasons(gpu: Gpu, at_us: int) -> Value:
    """The reasons that this GPU can tell."""
    return uint64(_ALL_REASONS)


@answers("nvmlDeviceGetViolationStatus", node=True)
def violation_status(gpu: Gpu, node: Node, at_us: int, policy: int) -> Value:
    """For how long, in nanoseconds, a policy (nvmlPerfPolicyType_t) kept clocks down.

    Before it stands the time of reading, in microseconds since 1970.
    """
    if policy not in _POLICIES:
        raise NvmlError(Code.INVALID_ARGUMENT)
    limited_us = sum(gpu.limited_us(limit, at_us) for limit in _POLICIES[policy])
    return _VIOLATION.pack(node.epoch.unix_us(at_us), limited_us * 1000)
