"""Temperatures in degrees Celsius, and power in watts, of the GPU and of the module round it."""

from __future__ import annotations

from fakes.commands.nvidia_smi.field import Field, field
from fakes.commands.nvidia_smi.reading import Gpu
from fakes.commands.nvidia_smi.words import Read, field_value, part, said, until, watts, yes

_DIE = 0
_MEMORY_TEMPERATURE = 82
AVERAGE, INSTANT = 185, 186
_MIN, _MAX, _DEFAULT, _CURRENT, _REQUESTED = 187, 188, 189, 190, 192
_MODULE = 1
MEMORY_SCOPE = 2
_EDPP = 274

_SMOOTHING = (
    ("delayed_power_smoothing_supported", 280, "", yes),
    ("primary_power_floor", 275, "W", watts),
    ("secondary_power_floor", 276, "W", watts),
    ("min_primary_floor_activation_offset", 277, "W", watts),
    ("min_primary_floor_activation_point", 278, "W", watts),
    ("window_multiplier", 279, "ms", str),
    ("curr_profile.secondary_power_floor", 281, "W", watts),
    ("curr_profile.primary_floor_act_window_multiplier", 282, "", str),
    ("curr_profile.primary_floor_tar_window_multiplier", 283, "", str),
    ("curr_profile.primary_floor_act_offset", 284, "W", watts),
    ("admin_override.secondary_power_floor", 285, "W", watts),
    ("admin_override.primary_floor_act_window_multiplier", 286, "", str),
    ("admin_override.primary_floor_tar_window_multiplier", 287, "", str),
    ("admin_override.primary_floor_act_offset", 288, "W", watts),
)


def _watts(name: str, read: Read, about: str, *aliases: str) -> Field[Gpu]:
    return field(name, *aliases, read=read, unit="W", about=about)


def _module(name: str, number: int, *aliases: str) -> Field[Gpu]:
    read = field_value(number, _MODULE, by=watts)
    return _watts(f"module.{name}", read, "Of the whole module.", *aliases)


FIELDS: tuple[Field[Gpu], ...] = (
    field("temperature.gpu", read=said("nvmlDeviceGetTemperature", _DIE), about="Of the GPU."),
    field(
        "temperature.gpu.tlimit",
        read=said("nvmlDeviceGetMarginTemperature"),
        about="Degrees left until the GPU lowers its clocks.",
    ),
    field("temperature.memory", read=field_value(_MEMORY_TEMPERATURE), about="Of HBM.", bare=True),
    field(
        "power.management",
        read=until(
            590,
            said("nvmlDeviceGetPowerManagementMode", by=lambda on: "Supported" if on else "N/A"),
        ),
        about="Not told by newer drivers.",
    ),
    _watts(
        "power.draw",
        said("nvmlDeviceGetPowerUsage", by=watts),
        "Of the whole board, averaged over a second on Ampere and later.",
    ),
    _watts(
        "power.draw.average", field_value(AVERAGE, by=watts), "Averaged.", "gpu.power.draw.average"
    ),
    _watts(
        "power.draw.instant",
        field_value(INSTANT, by=watts),
        "At this instant.",
        "gpu.power.draw.instant",
    ),
    _watts(
        "power.limit",
        said("nvmlDeviceGetPowerManagementLimit", by=watts),
        "The limit that was set.",
        "gpu.power.requested_limit",
    ),
    _watts(
        "enforced.power.limit",
        said("nvmlDeviceGetEnforcedPowerLimit", by=watts),
        "The lowest of all limits.",
        "gpu.power.current_limit",
    ),
    _watts(
        "power.default_limit",
        said("nvmlDeviceGetPowerManagementDefaultLimit", by=watts),
        "The limit after the driver was loaded.",
        "gpu.power.default_limit",
    ),
    _watts(
        "power.min_limit",
        part("nvmlDeviceGetPowerManagementLimitConstraints", 0, by=watts),
        "The lowest limit that can be set.",
        "gpu.power.min_limit",
    ),
    _watts(
        "power.max_limit",
        part("nvmlDeviceGetPowerManagementLimitConstraints", 1, by=watts),
        "The highest limit that can be set.",
        "gpu.power.max_limit",
    ),
    _module("power.draw.average", AVERAGE),
    _module("power.draw.instant", INSTANT),
    _module("power.limit", _REQUESTED, "module.power.requested_limit"),
    _module("enforced.power.limit", _CURRENT, "module.power.current_limit"),
    _module("power.default_limit", _DEFAULT),
    _module("power.min_limit", _MIN),
    _module("power.max_limit", _MAX),
    *(
        field(
            f"power_smoothing.{name}",
            read=field_value(number, by=by),
            unit=unit,
            about="Power smoothing.",
        )
        for name, number, unit, by in _SMOOTHING
    ),
    field(
        "edpp_multiplier",
        read=field_value(_EDPP, by="{:.2f}".format),
        unit="%",
        about="The EDPp multiplier.",
    ),
)
