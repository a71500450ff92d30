"""What is asked of NVML for one GPU: a table of readings, each checked where it comes in.

NVML marks a value that it does not have by setting all bits, and real drivers have answered
percentages above 100, absurd temperatures and names that are not UTF-8. None of that gets past
this file: a reading is a plausible value, or missing with its reason.
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

Nvml = Any
"""The module ``pynvml`` (nvidia-ml-py), or an object with the same functions and constants."""

Handle = Any

_NO_U32 = 0xFFFF_FFFF
_NO_U64 = 0xFFFF_FFFF_FFFF_FFFF


class MissingError(Exception):
    """A value that came but says nothing; its text is the reason."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One NVML call and the fields of :class:`gputui.model.GpuSample` that it fills.

    ``every`` is how often it is asked: each so many samples.
    """

    fields: tuple[str, ...]
    ask: Callable[[Nvml, Handle], tuple[int, ...]]
    every: int = 1


def _plain(value: int) -> int:
    if value in (_NO_U32, _NO_U64):
        raise MissingError(NOT_AVAILABLE)
    if value < 0:
        raise MissingError(garbage(value))
    return int(value)


def _at_most(limit: int, value: int) -> int:
    if _plain(value) > limit:
        raise MissingError(garbage(value))
    return int(value)


def _percent(value: int) -> int:
    return _at_most(100, value)


def _celsius(value: int) -> int:
    return _at_most(200, value)


def _milliwatts(value: int) -> int:
    return _at_most(50_000_000, value)


def _megahertz(value: int) -> int:
    return _at_most(100_000, value)


def _utilization(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    rates = nvml.nvmlDeviceGetUtilizationRates(handle)
    return _percent(rates.gpu), _percent(rates.memory)


def _memory(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    """Used and total without, and beside, what the driver reserves (nvmlMemory_v2_t)."""
    memory = nvml.nvmlDeviceGetMemoryInfo(handle, version=nvml.nvmlMemory_v2)
    used, total = _plain(memory.used), _plain(memory.total)
    if used > total:
        raise MissingError(garbage(f"{used} of {total} bytes used"))
    return used, total, _plain(memory.reserved)


def _memory_v1(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    """Drivers before 510: what they reserve counts as used."""
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    used, total = _plain(memory.used), _plain(memory.total)
    if used > total:
        raise MissingError(garbage(f"{used} of {total} bytes used"))
    return used, total


def _temperature(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    return (_celsius(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU)),)


def _threshold(name: str) -> Callable[[Nvml, Handle], tuple[int, ...]]:
    def ask(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
        kind = getattr(nvml, f"NVML_TEMPERATURE_THRESHOLD_{name}")
        return (_celsius(nvml.nvmlDeviceGetTemperatureThreshold(handle, kind)),)

    return ask


def _power(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    return (_milliwatts(nvml.nvmlDeviceGetPowerUsage(handle)),)


def _power_limit(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    return (_milliwatts(nvml.nvmlDeviceGetEnforcedPowerLimit(handle)),)


def _clock(name: str) -> Callable[[Nvml, Handle], tuple[int, ...]]:
    def ask(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
        return (_megahertz(nvml.nvmlDeviceGetClockInfo(handle, getattr(nvml, name))),)

    return ask


def _sm_clock_max(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    return (_megahertz(nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_SM)),)


def _clock_reasons(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    """The name since driver 535, or the one before it."""
    try:
        return (_plain(nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)),)
    except nvml.NVMLError as error:
        if error.value != FUNCTION_NOT_FOUND:
            raise
    return (_plain(nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)),)


def _fan(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    """Intended speed in percent of the nominal maximum; some boards go above it (nvml.h)."""
    return (_at_most(200, nvml.nvmlDeviceGetFanSpeed(handle)),)


def _performance_state(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    """P0 to P15; 32 is NVML's mark for unknown."""
    state = nvml.nvmlDeviceGetPerformanceState(handle)
    if state == 32:
        raise MissingError(NOT_AVAILABLE)
    return (_at_most(15, state),)


def _ecc(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    count = nvml.nvmlDeviceGetTotalEccErrors(
        handle, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
    )
    return (_plain(count),)


def _energy(nvml: Nvml, handle: Handle) -> tuple[int, ...]:
    return (_plain(nvml.nvmlDeviceGetTotalEnergyConsumption(handle)),)


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
"""Everything but PCIe throughput, which takes 20 ms a call and is read apart."""

OLDER = {READINGS[1]: Reading(READINGS[1].fields[:2], _memory_v1)}
"""What to ask instead on a driver that does not know the call."""

OLDER_CODES = frozenset({FUNCTION_NOT_FOUND, ARGUMENT_VERSION_MISMATCH})


def pcie_bytes_per_s(nvml: Nvml, handle: Handle) -> tuple[int, int]:
    """Received and sent over a 20 ms window, which is how long each of the two calls takes.

    NVML tells KiB a second.
    """
    received = nvml.nvmlDeviceGetPcieThroughput(handle, nvml.NVML_PCIE_UTIL_RX_BYTES)
    sent = nvml.nvmlDeviceGetPcieThroughput(handle, nvml.NVML_PCIE_UTIL_TX_BYTES)
    return _plain(received) * 1024, _plain(sent) * 1024
