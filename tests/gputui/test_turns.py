"""Slow readings take turns: all of a new GPU at once, then evenly spread, none forgotten."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputui.sources.turns import Turns

PERIODS_S = (10.0, 10.0, 30.0, 60.0)


def all_due(turns, now_s):
    taken = []
    while (turn := turns.take(now_s)) is not None:
        taken.append(turn)
    return taken


@pytest.fixture
def turns():
    """Eight GPUs, each asked for everything once."""
    turns = Turns(PERIODS_S)
    for gpu in range(8):
        turns.welcome(gpu)
    return turns


def test_a_new_gpu_is_asked_for_everything_reading_by_reading(turns):
    """What matters most is read of all GPUs before what matters less is of any."""
    taken = all_due(turns, 100.0)
    assert taken == [(gpu, reading) for reading in range(4) for gpu in range(8)]
    assert not turns.is_due(100.0)


def test_each_reading_keeps_its_period(turns):
    """In ten minutes a period of ten seconds comes sixty times, one of a minute ten times."""
    all_due(turns, 0.0)
    counts = Counter(turn for second in range(1, 601) for turn in all_due(turns, float(second)))
    for (_, reading), count in counts.items():
        expected = 600 / PERIODS_S[reading]
        assert expected * 0.9 - 1 <= count <= expected + 1
    assert len(counts) == 8 * 4


def test_turns_are_spread_over_the_period(turns):
    """After the first round they do not come all in one second."""
    all_due(turns, 0.0)
    for second in range(1, 11):
        all_due(turns, float(second))
    a_second = [len(all_due(turns, float(second))) for second in range(11, 71)]
    assert sum(a_second) == 120
    assert max(a_second) <= 8


def test_a_gpu_that_was_lost_and_found_is_asked_anew(turns):
    """Its old readings are gone; its neighbours keep their turns."""
    all_due(turns, 0.0)
    for second in range(1, 4):
        all_due(turns, float(second))
    before = len(turns._turns)
    turns.welcome(5)
    assert {gpu for gpu, _ in all_due(turns, 3.0)} == {5}
    assert len(turns._turns) == before


def test_what_is_hastened_is_due_and_nothing_else(turns):
    """Something happened: readings of health are wanted now."""
    all_due(turns, 0.0)
    for second in range(1, 6):
        all_due(turns, float(second))
    turns.hasten({0})
    assert sorted(all_due(turns, 5.0)) == [(gpu, 0) for gpu in range(8)]


def test_a_clock_that_is_set_back_delays_nobody(turns):
    """Otherwise readings would stand still until the clock had caught up."""
    all_due(turns, 1e9)
    assert len(all_due(turns, 1e9 - 3600)) == 8 * 4


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50))
def test_nobody_is_forgotten(steps):
    """However time goes, every reading of every GPU keeps a turn."""
    turns = Turns(PERIODS_S)
    for gpu in range(3):
        turns.welcome(gpu)
    for now_s in steps:
        all_due(turns, now_s)
    assert len(turns._turns) == 12
