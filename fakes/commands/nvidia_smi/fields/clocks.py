"""Fan, performance state, clocks, and why clocks are lower than they could be."""

from __future__ import annotations

from fakes.commands.nvidia_smi.field import Field, field
from fakes.commands.nvidia_smi.reading import Gpu
from fakes.commands.nvidia_smi.words import Read, active, field_value, said, until

GRAPHICS, SM, MEMORY, VIDEO = range(4)
DISPLAY_CLOCK = 0x100

_REASONS = (
    ("gpu_idle", 0x1, "Nothing runs, and clocks are lowered for that."),
    ("applications_clocks_setting", 0x2, "The applications clocks hold clocks down."),
    ("sw_power_cap", 0x4, "The power limit holds clocks down."),
    ("hw_slowdown", 0x8, "Hardware holds clocks down, by half or more."),
    ("hw_thermal_slowdown", 0x40, "So it does because of heat."),
    ("hw_power_brake_slowdown", 0x80, "So it does because a power brake was asserted."),
    ("sw_thermal_slowdown", 0x20, "Software holds clocks down because of heat."),
    ("sync_boost", 0x10, "The slowest GPU of a group holds clocks down."),
)
_COUNTERS = (
    ("sw_power_cap", 74),
    ("sync_boost", 76),
    ("sw_thermal_slowdown", 269),
    ("hw_thermal_slowdown", 270),
    ("hw_power_brake_slowdown", 271),
)


def reason(bit: int) -> Read:
    """Whether a reason (nvmlClocksEventReason*) is in force."""
    return said("nvmlDeviceGetCurrentClocksEventReasons", by=lambda mask: active(mask & bit))


def _mask(mask: int) -> str:
    return f"0x{mask:016X}"


REASONS: tuple[Field[Gpu], ...] = (
    field(
        "fan.speed",
        read=said("nvmlDeviceGetFanSpeed"),
        unit="%",
        about="The speed that the fan is to run at.",
    ),
    field(
        "pstate",
        read=said("nvmlDeviceGetPerformanceState", by="P{}".format),
        about="Performance state, from P0, the highest, to P12.",
    ),
    field(
        "clocks_event_reasons.supported",
        "clocks_throttle_reasons.supported",
        read=said("nvmlDeviceGetSupportedClocksEventReasons", by=_mask),
        about="The reasons that the GPU can tell, as a bit mask.",
    ),
    field(
        "clocks_event_reasons.active",
        "clocks_throttle_reasons.active",
        read=said("nvmlDeviceGetCurrentClocksEventReasons", by=_mask),
        about="The reasons in force, as a bit mask.",
    ),
    *(
        field(
            f"clocks_event_reasons.{name}",
            f"clocks_throttle_reasons.{name}",
            read=reason(bit),
            about=about,
        )
        for name, bit, about in _REASONS
    ),
    *(
        field(
            f"clocks_event_reasons_counters.{name}",
            read=field_value(number, by=lambda time_ns: str(time_ns // 1000)),
            unit="us",
            about="For how long this reason held clocks down.",
        )
        for name, number in _COUNTERS
    ),
)


def _clock(name: str, function: str, domain: int, *aliases: str) -> Field[Gpu]:
    return field(name, *aliases, read=said(function, domain), unit="MHz", about="A clock.")


def _applications(group: str, function: str) -> tuple[Field[Gpu], ...]:
    """Clocks that applications ask for; drivers from 590 on tell them no more."""
    return tuple(
        field(
            f"clocks.{group}.{name}",
            f"clocks.{group}.{short}",
            read=until(590, said(function, domain)),
            unit="MHz",
            about="A clock that applications ask for.",
        )
        for name, short, domain in (("graphics", "gr", GRAPHICS), ("memory", "mem", MEMORY))
    )


FIELDS: tuple[Field[Gpu], ...] = (
    _clock("clocks.current.graphics", "nvmlDeviceGetClockInfo", GRAPHICS, "clocks.gr"),
    _clock("clocks.current.sm", "nvmlDeviceGetClockInfo", SM, "clocks.sm"),
    _clock("clocks.current.memory", "nvmlDeviceGetClockInfo", MEMORY, "clocks.mem"),
    _clock("clocks.current.video", "nvmlDeviceGetClockInfo", VIDEO, "clocks.video"),
    *_applications("applications", "nvmlDeviceGetApplicationsClock"),
    *_applications("default_applications", "nvmlDeviceGetDefaultApplicationsClock"),
    _clock("clocks.max.graphics", "nvmlDeviceGetMaxClockInfo", GRAPHICS, "clocks.max.gr"),
    _clock("clocks.max.sm", "nvmlDeviceGetMaxClockInfo", SM),
    _clock("clocks.max.memory", "nvmlDeviceGetMaxClockInfo", MEMORY, "clocks.max.mem"),
)
