"""Numbers in words, for lines of text."""

from __future__ import annotations

_GIB = 1 << 30


def age(seconds: float) -> str:
    """How long ago, short: ``42s``, ``3m``, ``5h``, ``12d``."""
    whole = max(int(seconds), 0)
    for unit, size in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if whole >= size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def gib(count: int | None) -> str:
    """Bytes as gibibytes, without the unit; ``?`` when missing."""
    return "?" if count is None else f"{count / _GIB:.1f}"


def watts(milliwatts: int | None) -> str:
    """Milliwatts as watts, without the unit; ``?`` when missing."""
    return "?" if milliwatts is None else f"{milliwatts / 1000:.0f}"


def or_dash(value: object, unit: str = "") -> str:
    """A value with its unit, or a dash when missing. Zero is a value."""
    return "-" if value is None else f"{value}{unit}"
