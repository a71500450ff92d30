"""Counters that only grow: by how much, also round their end and from a new beginning."""

import pytest

from gputui.sources.counters import Meter, grown

TOP_32, TOP_64 = 1 << 32, 1 << 64


@pytest.mark.parametrize(
    ("before", "now", "by"),
    [
        (5, 5, 0),
        (5, 7, 2),
        (TOP_32 - 10, 20, 30),
        (TOP_64 - 10, 20, 30),
        (TOP_32 + 10, TOP_32 + 20, 10),
        (1000, 7, 7),
        (TOP_32 + 10, 7, 7),
        (TOP_32 - 10, TOP_32 // 2, TOP_32 // 2),
        (1 << 62, 3, 3),
    ],
)
def test_a_counter_that_fell_has_wrapped_or_begun_anew(before, now, by):
    """Near the end of 32 or 64 bits it wrapped; anywhere else it was reset, and counts from 0."""
    assert grown(before, now) == by


def test_a_rate_needs_two_readings_and_time_between_them():
    """Bytes a second, received and sent."""
    meter = Meter()
    assert meter.bytes_per_s(10.0, 1000, 100) is None
    assert meter.bytes_per_s(10.0, 1000, 100) is None
    assert meter.bytes_per_s(12.0, 5000, 100) == (2000, 0)


def test_growth_names_only_what_grew():
    """What stands still is not named; what can be read only now begins now."""
    meter = Meter()
    assert meter.growth(1.0, {"a": 5, "b": 0}) == ({}, None)
    assert meter.growth(3.0, {"a": 7, "b": 0, "c": 9}) == ({"a": 2}, 2.0)
    assert meter.growth(4.0, {"c": 10}) == ({"c": 1}, 1.0)
    assert meter.growth(5.0, {"a": 100, "c": 10}) == ({}, 1.0)
