"""What NVML answered, checked where it comes in.

NVML marks a value that it does not have by setting all bits, and real drivers have answered
percentages above 100, absurd temperatures and names that are not UTF-8. None of that gets past
these functions: a reading is a plausible value, or missing with its reason.
"""

from __future__ import annotations

from gputui.sources.reasons import NOT_AVAILABLE, garbage
from gputui.text import printable

_NO_U32 = 0xFFFF_FFFF
_NO_U64 = 0xFFFF_FFFF_FFFF_FFFF


class MissingError(Exception):
    """A value that came but says nothing; its text is the reason."""


def count(value: int) -> int:
    """A number from zero up."""
    if value in (_NO_U32, _NO_U64):
        raise MissingError(NOT_AVAILABLE)
    if value < 0:
        raise MissingError(garbage(value))
    return int(value)


def at_most(limit: int, value: int) -> int:
    """A number from zero to ``limit``."""
    if count(value) > limit:
        raise MissingError(garbage(value))
    return int(value)


def percent(value: int) -> int:
    """A share of a hundred."""
    return at_most(100, value)


def celsius(value: int) -> int:
    """A temperature that a GPU can have."""
    return at_most(200, value)


def milliwatts(value: int) -> int:
    """A power that a GPU can draw."""
    return at_most(50_000_000, value)


def megahertz(value: int) -> int:
    """A clock that a GPU can run at."""
    return at_most(100_000, value)


def flag(value: int) -> bool:
    """nvmlEnableState_t, or another way of saying yes or no."""
    return at_most(1, value) == 1


def text(value: str) -> str:
    """A name, fit for a terminal; an empty one is none."""
    shown = printable(value).strip()
    if not shown:
        raise MissingError(NOT_AVAILABLE)
    return shown
