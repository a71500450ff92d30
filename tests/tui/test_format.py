from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputui.tui import format as fmt
from gputui.tui.glyphs import ASCII, UNICODE

MIB, GIB = 1 << 20, 1 << 30


@given(st.floats(min_value=-1e12, max_value=1e12))
def test_a_duration_fits_its_column(seconds: float) -> None:
    """No duration is wider than five cells."""
    assert len(fmt.duration(seconds)) <= 5


@pytest.mark.parametrize(
    ("seconds", "text"), [(42, "42s"), (720, "12m"), (11_100, "3h05"), (187_200, "2d04")]
)
def test_a_duration_has_two_units_from_an_hour_on(seconds: float, text: str) -> None:
    """Process times tell hours and minutes, then days and hours."""
    assert fmt.duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (1, "<1M"),
        (512 * MIB, "512M"),
        (10 * GIB, "10G"),
        (int(9.8 * GIB), "9.8G"),
        (1500 * GIB, "1.5T"),
    ],
)
def test_a_size_keeps_two_digits(count: int, text: str) -> None:
    """Zero is a measurement; something is never shown as zero."""
    assert fmt.size(count) == text


@given(st.integers(min_value=0, max_value=1 << 50))
def test_a_size_fits_its_column(count: int) -> None:
    """Up to a petabyte, sizes take at most seven cells, and five up to a terabyte."""
    assert len(fmt.size(count)) <= (5 if count < 900 * GIB else 7)


def test_memory_is_shown_as_used_of_total() -> None:
    """What is missing is a question mark, never a made-up zero."""
    assert fmt.used_of_total(61 * GIB, 80 * GIB) == "61/80G"
    assert fmt.used_of_total(0, 80 * GIB) == "0/80G"
    assert fmt.used_of_total(None, 80 * GIB) == "?/80G"
    assert fmt.used_of_total(None, None) == ""


def test_the_power_limit_gives_way_before_the_power() -> None:
    """In a narrow column the power stands alone."""
    assert fmt.power(641_000, 700_000, 10) == "641/700W"
    assert fmt.power(641_000, 700_000, 5) == "641W"


def test_rates_share_one_unit() -> None:
    """Both directions are in gigabytes as soon as one of them is."""
    assert fmt.rates(1_200_000_000, 980_000_000) == "1.2/1.0G"
    assert fmt.rates(980_000_000, 12_000_000) == "980/12M"
    assert fmt.rates(None, None) == ""


@given(st.floats(-1, 2), st.integers(1, 60), st.sampled_from([UNICODE, ASCII]))
def test_a_bar_has_its_width(fraction: float, width: int, glyphs: object) -> None:
    """Whatever the fraction, a bar is exactly as wide as asked, and grows with it."""
    blocks, track = glyphs.blocks, glyphs.track  # type: ignore[attr-defined]
    bar = fmt.bar(fraction, width, blocks, track)
    assert len(bar) == width
    if fraction >= 1:
        assert bar == blocks[-1] * width
    if fraction > 0:
        assert bar[0] != track
    if fraction <= 0:
        assert bar == track * width


def test_an_impossible_time_is_not_a_crash() -> None:
    """A recording may claim any time at all."""
    assert fmt.clock(1e30) == "--:--:--"
