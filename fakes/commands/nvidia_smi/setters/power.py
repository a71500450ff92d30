"""Persistence and the power limit."""

from __future__ import annotations

from collections.abc import Mapping

from fakes.commands.nvidia_smi.reading import Gpu
from fakes.commands.nvidia_smi.setters.setter import BadValue, Setter, switch
from fakes.commands.nvidia_smi.words import enabled, watts


def _persistence(gpu: Gpu, value: str) -> str:
    wanted = switch(value, "a persistence mode")
    word = enabled(wanted)
    if gpu.get("nvmlDeviceGetPersistenceMode") == wanted:
        return f"Persistence mode is already {word} for GPU {gpu.bus_id}."
    gpu.do("nvmlDeviceSetPersistenceMode", wanted)
    return f"{word} persistence mode for GPU {gpu.bus_id}."


def _power_limit(gpu: Gpu, value: str) -> str:
    try:
        wanted_mw = round(float(value) * 1000)
    except (ValueError, OverflowError):
        raise BadValue(f'"{value}" is not a power limit in watts') from None
    lowest_mw, highest_mw = gpu.get("nvmlDeviceGetPowerManagementLimitConstraints")
    if not lowest_mw <= wanted_mw <= highest_mw:
        raise BadValue(
            f"Provided power limit {watts(wanted_mw)} W is not a valid power limit which should be "
            f"between {watts(lowest_mw)} W and {watts(highest_mw)} W for GPU {gpu.bus_id}"
        )
    before_mw = gpu.get("nvmlDeviceGetPowerManagementLimit")
    gpu.do("nvmlDeviceSetPowerManagementLimit", wanted_mw)
    return (
        f"Power limit for GPU {gpu.bus_id} was set to {watts(wanted_mw)} W "
        f"from {watts(before_mw)} W."
    )


POWER: Mapping[str, Setter] = {
    "persistence-mode": Setter(
        _persistence, *["Unable to set persistence mode for GPU {bus}: {why}"] * 3
    ),
    "power-limit": Setter(
        _power_limit,
        "Changing power management limit is not supported for GPU: {bus}.",
        *["Failed to set power management limit for GPU {bus}: {why}"] * 2,
    ),
}
"""By the option's long name."""
