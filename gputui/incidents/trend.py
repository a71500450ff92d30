"""Whether a reading keeps growing, and how fast: a robust line through the last minute of it.

The slope is Theil's and Sen's, the median of the slopes between all pairs of points (P. K. Sen,
"Estimates of the regression coefficient based on Kendall's tau", Journal of the American
Statistical Association 63, 1968): a reading that is off does not move it. A line alone does not
tell growth from a step, so growth also has to be spread over the time, and to go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

from gputui.incidents.averages import median

Point = tuple[float, float]
"""When (seconds), and what was read."""

_MOST_POINTS = 13
"""78 pairs: the slope costs the same at every interval."""

_LEAST_POINTS = 4
"""Fewer do not tell growth from a step."""

_RISING_SHARE = 0.7
"""The part of the time in which the reading has to rise."""

_STEP_SHARE = 0.35
"""By so much of the whole growth one step may exceed its part of the time."""

_GOES_ON_SHARE = 0.5
"""In the last quarter of the time the reading has to grow at this part of the slope, or faster."""


def steady_growth(series: Sequence[Point], *, least_s: float) -> float | None:
    """The growth a second of readings that have grown steadily for ``least_s``, and still do.

    ``series`` is in the order of time. None where they have not: too short a time, a step, a
    plateau, a saw-tooth, a fall.
    """
    points = _thinned(series)
    if len(points) < _LEAST_POINTS:
        return None
    (first_s, first), (last_s, last) = points[0], points[-1]
    span_s, growth = last_s - first_s, last - first
    if span_s < least_s or growth <= 0:
        return None
    rising_s = 0.0
    for (from_s, before), (to_s, after) in pairwise(points):
        if after > before:
            rising_s += to_s - from_s
        if (after - before) / growth > (to_s - from_s) / span_s + _STEP_SHARE:
            return None
    if rising_s < _RISING_SHARE * span_s:
        return None
    slope = median(
        (later - earlier) / (later_s - earlier_s)
        for (earlier_s, earlier), (later_s, later) in combinations(points, 2)
    )
    return slope if _goes_on(points, slope, span_s) else None


def _thinned(series: Sequence[Point]) -> list[Point]:
    """As many points as are affordable, spread evenly, with the first and the last one."""
    if len(series) <= _MOST_POINTS:
        return list(series)
    last = len(series) - 1
    return [series[round(turn * last / (_MOST_POINTS - 1))] for turn in range(_MOST_POINTS)]


def _goes_on(points: Sequence[Point], slope: float, span_s: float) -> bool:
    last_s, last = points[-1]
    earlier_s, earlier = next(
        point for point in reversed(points) if last_s - point[0] >= span_s / 4
    )
    return last - earlier >= _GOES_ON_SHARE * slope * (last_s - earlier_s)
