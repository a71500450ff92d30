"""Averages of a few readings. The standard library's are exact for fractions, and far slower."""

from __future__ import annotations

from collections.abc import Iterable


def mean(values: Iterable[float]) -> float:
    """The arithmetic mean of at least one value."""
    known = list(values)
    return sum(known) / len(known)


def median(values: Iterable[float]) -> float:
    """The middle one of at least one value, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2
