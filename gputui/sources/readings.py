"""What is asked of NVML for one GPU at every sample, or every few: a table of readings.

What changes seldom stands in :mod:`gputui.sources.slow_readings`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gputui.sources.reasons import (
    ARGUMENT_VERSION_MISMATCH,
    FUNCTION_NOT_FOUND,
    NOT_AVAILABLE,
    garbage,
)
from gputui.sources.values import (
    MissingError,
    at_most,
    celsius,
    count,
    megahertz,
    milliwatts,
    percent,
)

Nvml = Any
"""The module ``pynvml`` (nvidia-ml-py), or an object with the same functions and constants."""

Handle = Any


@dataclass(frozen=True, slots=True)
class Reading:
    """One NVML call and the fields of :class:`gputui.model.GpuSample` that it fills.

    ``every`` is how often it is asked: each so many samples.
    """

    fields: tuple[str, ...]
    ask: Callable[[Nvml, Handle], tuple[int, ...]]
    every: int = 1


_MOST_MEMORY_BYTES = 1 << 44
"""Sixteen tebibytes: the largest boards have a fiftieth of that."""


def _utilization(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    rates = nvml.nvmlDeviceGetUtilizationRates(handle)
    return percent(rates.gpu), percent(rates.memory)


def _memory(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    """Used and total without, and beside, what the driver reserves (nvmlMemory_v2_t)."""
    memory = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    used, total = count(memory.used), count(memory.total)
    if used > total or total > _MOST_MEMORY_BYTES:
        raise MissingError(garbage(f"{used} of {total} bytes used"))
    return used, total, count(memory.reserved)


def _memory_v1(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    """Drivers before 510: what they reserve counts as used."""
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    used, total = count(memory.used), count(memory.total)
    if used > total or total > _MOST_MEMORY_BYTES:
        raise MissingError(garbage(f"{used} of {total} bytes used"))
    return used, total


def _temperature(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    return (celsius(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),)


def _threshold(name: str) -> Callable[[Nvml, Handle], tuple[int, ...]]:
    def ask(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
        kind = getattr(nvml, f"NVML_TEMPERATURE_THRESHOLD_{name}")
        return (celsius(nvml.nvmlDeviceGetTemperatureThreshold(handle, kind)),)

    return ask


def _power(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    return (milliwatts(nvml.nvmlDeviceGetPowerUsage(handle)),)


def _power_limit(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    return (milliwatts(nvml.nvmlDeviceGetEnforcedPowerLimit(handle)),)


def _clock(name: str) -> Callable[[Nvml, Handle], tuple[int, ...]]:
    def ask(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
        return (megahertz(nvml.nvmlDeviceGetClockInfo(handle, getattr(nvml, name))),)

    return ask


def _sm_clock_max(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    return (megahertz(nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM)),)


def _clock_reasons(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    """The name since driver 535, or the one before it."""
    try:
        return (count(nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)),)
    except nvml.NVMLError as error:
        if error.value != FUNCTION_NOT_FOUND:
            raise
    return (count(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),)


def _fan(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    """Intended speed in percent of the nominal maximum; some boards go above it (nvml.h)."""
    return (at_most(200, nvml.nvmlDeviceGetFanSpeed(handle)),)


def _performance_state(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    """P0 to P15; 32 is NVML's mark for unknown."""
    state = nvml.nvmlDeviceGetPerformanceState(handle)
    if state == 32:
        raise MissingError(NOT_AVAILABLE)
    return (at_most(15, state),)


def _ecc(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    errors = nvml.nvmlDeviceGetTotalEccErrors(
        handle, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
    )
    return (count(errors),)


def _energy(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    return (count(nvml.nvmlDeviceGetTotalEnergyConsumption(handle)),)


READINGS = (
    Reading(("utilization_percent", "memory_utilization_percent"), _utilization),
    Reading(("memory_used_bytes", "memory_total_bytes", "memory_reserved_bytes"), _memory),
    Reading(("temperature_c",), _temperature),
    Reading(("power_mw",), _power),
    Reading(("sm_clock_mhz",), _clock("NVML_CLOCK_SM")),
    Reading(("clock_reasons",), _clock_reasons),
    Reading(("memory_clock_mhz",), _clock("NVML_CLOCK_MEM"), every=5),
    Reading(("power_limit_mw",), _power_limit, every=5),
    Reading(("performance_state",), _performance_state, every=5),
    Reading(("fan_percent",), _fan, every=5),
    Reading(("ecc_uncorrected_volatile",), _ecc, every=5),
    Reading(("energy_mj",), _energy, every=5),
    Reading(("temperature_slowdown_c",), _threshold("SLOWDOWN"), every=60),
    Reading(("temperature_shutdown_c",), _threshold("SHUTDOWN"), every=60),
    Reading(("sm_clock_max_mhz",), _sm_clock_max, every=60),
)
"""The readings on which the screen and most rules live."""

OLDER = {READINGS[1]: Reading(READINGS[1].fields[:2], _memory_v1)}
"""What to ask instead on a driver that does not know the call."""

OLDER_CODES = frozenset({FUNCTION_NOT_FOUND, ARGUMENT_VERSION_MISMATCH})
