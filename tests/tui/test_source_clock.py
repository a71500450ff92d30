from __future__ import annotations

import pytest

from gputui.tui.source_clock import SourceClock


def test_the_source_s_clock_runs_on_between_readings() -> None:
    """Three seconds after a reading, the source's time is three seconds later."""
    clock = SourceClock(100.0)
    clock.hear(5000.0, 101.0)
    assert clock.now_s(104.0) == 5003.0
    assert clock.silent_s(104.0) == 3.0


def test_an_old_stamp_does_not_turn_time_back() -> None:
    """While readings fail, the monitor repeats the last one: ages go on counting."""
    clock = SourceClock(100.0)
    clock.hear(5000.0, 101.0)
    clock.hear(5000.0, 111.0)
    assert clock.now_s(111.0) == 5010.0
    assert clock.silent_s(111.0) == 0.0


def test_a_late_delivery_does_not_turn_time_back() -> None:
    """A snapshot that took long to arrive does not make ages shrink."""
    clock = SourceClock(100.0)
    clock.hear(5000.0, 101.0)
    clock.hear(5001.0, 103.5)
    assert clock.now_s(103.5) == 5002.5


@pytest.mark.parametrize(("interval_s", "patience_s"), [(0.1, 3.0), (2.0, 6.0), (600.0, 60.0)])
def test_patience_is_three_intervals(interval_s: float, patience_s: float) -> None:
    """Readings are stale after three intervals, but never before three seconds nor after 60."""
    clock = SourceClock(0.0)
    clock.hear(5000.0, 1.0)
    clock.hear(5000.0 + interval_s, 1.0 + interval_s)
    assert clock.patience_s == pytest.approx(patience_s)


def test_waiting_for_the_first_snapshot_is_silence_too() -> None:
    """Before anything was heard, the wait is counted from the start."""
    assert SourceClock(100.0).silent_s(107.0) == 7.0
