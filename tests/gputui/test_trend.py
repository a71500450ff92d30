"""Steady growth is told from steps, plateaus and noise."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputui.incidents.trend import steady_growth

LEAST_S = 30.0


def series(value, seconds=60, every=1):
    return [(float(at), float(value(at))) for at in range(0, seconds + 1, every)]


@pytest.mark.parametrize("every", [1, 5, 10, 20])
def test_a_straight_line_has_its_own_slope(every):
    """Whatever the interval, growth of 64 a second is 64 a second."""
    assert steady_growth(series(lambda at: 1000 + 64 * at, every=every), least_s=LEAST_S) == 64


def test_a_reading_that_is_off_does_not_move_it():
    """One outlier in the middle leaves the slope where it was."""
    points = series(lambda at: 64 * at)
    points[30] = (30.0, points[30][1] + 500)
    slope = steady_growth(points, least_s=LEAST_S)
    assert slope is not None
    assert math.isclose(slope, 64, rel_tol=0.05)


@pytest.mark.parametrize(
    "value",
    [
        lambda at: 1000,
        lambda at: 1000 if at < 30 else 9000,
        lambda at: 1000 if at < 59 else 9000,
        lambda at: min(64 * at, 64 * 40),
        lambda at: 64 * (at % 10),
        lambda at: 9000 - 64 * at,
        lambda at: 1000 + 40 * (at // 30),
    ],
    ids=["constant", "step", "step-now", "plateau", "saw-tooth", "fall", "two-steps"],
)
def test_what_does_not_keep_growing_has_no_slope(value):
    """A step, a plateau, a saw-tooth and a fall are no steady growth."""
    assert steady_growth(series(value), least_s=LEAST_S) is None


def test_growth_in_small_steps_is_growth():
    """A leak of one batch every five seconds grows as steadily as a line."""
    slope = steady_growth(series(lambda at: 500 * (at // 5)), least_s=LEAST_S)
    assert slope is not None
    assert math.isclose(slope, 100, rel_tol=0.1)


def test_too_short_a_time_says_nothing():
    """Twenty seconds of growth may be a model that is loaded."""
    assert steady_growth(series(lambda at: 64 * at, seconds=20), least_s=LEAST_S) is None


def test_noise_about_a_level_is_no_growth():
    """Readings that wander about the same value never count as growing."""
    dice = random.Random(7)
    points = [(float(at), 1000 + dice.uniform(-50, 50)) for at in range(2000)]
    windows = (points[start : start + 60] for start in range(0, 1940, 7))
    assert all(steady_growth(window, least_s=LEAST_S) is None for window in windows)


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e12)), max_size=40))
def test_any_readings_are_borne(points):
    """Whatever comes, the answer is a positive slope or none."""
    ordered = sorted(dict(points).items())
    slope = steady_growth(ordered, least_s=LEAST_S)
    assert slope is None or slope > 0
