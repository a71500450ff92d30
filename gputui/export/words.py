"""Numbers in words, for lines of text."""

from __future__ import annotations

from gputui.clock import clock
from gputui.model import Incident

_GIB = 1 << 30


def gib(count: int | None) -> str:
    """Bytes as gibibytes, without the unit; ``?`` when missing."""
    return "?" if count is None else f"{count / _GIB:.1f}"


def watts(milliwatts: int | None) -> str:
    """Milliwatts as watts, without the unit; ``?`` when missing."""
    return "?" if milliwatts is None else f"{milliwatts / 1000:.0f}"


def or_dash(value: object, unit: str = "") -> str:
    """A value with its unit, or a dash when missing. Zero is a value."""
    return "-" if value is None else f"{value}{unit}"


def cause_words(incident: Incident, time_s: float) -> str:
    """What is wrong; of what no longer is so but has not been over for long, since when."""
    if incident.eased_s is None or incident.cleared_s is not None:
        return incident.cause_text
    return f"{incident.cause_text} (over since {clock(incident.eased_s, time_s)}, clearing)"
