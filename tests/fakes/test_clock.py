"""The three clocks."""

from __future__ import annotations

import time

import pytest

from fakes.clock import SECOND_US, ScaledClock, VirtualClock, WallClock


def test_a_virtual_clock_moves_only_when_told() -> None:
    """It stands still, jumps forward, and refuses to go back."""
    clock = VirtualClock()
    assert clock.now_us() == 0
    clock.jump(5 * SECOND_US)
    assert clock.now_us() == 5 * SECOND_US
    with pytest.raises(ValueError, match="cannot go back"):
        clock.jump(SECOND_US)


def test_a_scaled_clock_runs_at_its_rate() -> None:
    """Between two readings it advances by the host's time times the rate."""
    clock = ScaledClock(10)
    start_us, start_s = clock.now_us(), time.monotonic()
    time.sleep(0.05)
    end_us, end_s = clock.now_us(), time.monotonic()
    assert end_us - start_us >= 0.05 * 10 * SECOND_US
    assert end_us - start_us <= (end_s - start_s) * 10 * SECOND_US + 100_000
    assert clock.real_seconds(10 * SECOND_US) == 1.0


def test_a_wall_clock_is_the_hosts() -> None:
    """Its rate is one."""
    assert WallClock().rate == 1.0
    with pytest.raises(ValueError, match="above zero"):
        ScaledClock(0)


def test_a_paused_clock_stands_and_goes_on_from_there() -> None:
    """A pause is no time of the run; the calendar moves on by as much."""
    clock = ScaledClock(10)
    clock.pause()
    stood_us, before = clock.now_us(), clock.epoch()
    time.sleep(0.05)
    assert clock.now_us() == stood_us
    clock.resume()
    went_on_us = clock.now_us()
    assert stood_us <= went_on_us < stood_us + 10 * SECOND_US
    assert clock.epoch().began_us - before.began_us >= 40_000
    assert not clock.paused
