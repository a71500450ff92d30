"""Stepping back in time: what was shown is shown again, for as long as it is kept."""

from __future__ import annotations

from typing import Any

import pytest

from gputui.model import Ancestor, ClockReasons, LinkSample, TcpSample
from gputui.tui import past
from gputui.tui.glyphs import UNICODE
from gputui.tui.packing import packed, unpacked
from gputui.tui.past import Past
from gputui.tui.view import View
from gputui.tui.watch import Watch


def test_a_moment_comes_back_as_it_was(make: Any) -> None:
    """Every reading, state and incident of it."""
    kept = Past()
    shown = make.trouble()
    kept.add(shown, 10.0)
    kept.add(make.snapshot(), 11.0)
    moment = kept.moment(kept.oldest)
    assert (moment.snapshot, moment.now_s, moment.number) == (shown, 10.0, 0)


def test_it_is_bounded_by_number_and_by_size(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest moments give way, and keep their numbers while they last."""
    kept = Past()
    for second in range(past.MOST_MOMENTS + 50):
        kept.add(make.snapshot(gpus=1), float(second))
    assert len(kept) == past.MOST_MOMENTS
    assert kept.moment(0).now_s == kept.span_s[0] == 50.0
    assert kept.moment(10**9).number == kept.newest == past.MOST_MOMENTS + 49
    monkeypatch.setattr(past, "MOST_BYTES", 1)
    kept.add(make.snapshot(gpus=1), 1e6)
    assert len(kept) == 1


def test_a_moment_is_found_by_its_time(make: Any) -> None:
    """The last one that was not later; the first one for what was before all."""
    kept = Past()
    for second in (10.0, 11.0, 20.0):
        kept.add(make.snapshot(gpus=1), second)
    assert [kept.at(t) for t in (5.0, 10.5, 19.9, 20.0, 99.0)] == [0, 0, 1, 2, 2]


def test_ten_full_minutes_are_small(make: Any) -> None:
    """Of a node with 8 GPUs and 20 processes: less than the bound, whatever changes."""
    kept = Past()
    size = 0
    for step in range(50):
        gpus = [make.gpu(i, power_mw=600_000 + 977 * step + i) for i in range(8)]
        processes = [make.process(4001 + i, i % 8, cpu_percent=step / 7 + i) for i in range(20)]
        kept.add(make.snapshot(gpus=gpus, processes=processes), float(step))
        size = kept._bytes
    assert size / 50 * past.MOST_MOMENTS < 2 * past.MOST_BYTES


class Watched:
    """A watch that has heard a reading a second, with the second as utilization of GPU 0."""

    def __init__(self, make: Any, seconds: int) -> None:
        self.make = make
        self.watch = Watch(0.0)
        for second in range(seconds):
            self.hear(second)

    def hear(self, second: int, **given: Any) -> None:
        gpu = self.make.gpu(0, utilization_percent=second % 101)
        snapshot = self.make.snapshot(gpus=[gpu], time_s=1000.0 + second, **given)
        self.watch.hear(snapshot, float(second))
        self.now_s = float(second)

    @property
    def scene(self) -> Any:
        return self.watch.scene(View(), UNICODE, self.now_s)

    @property
    def shown(self) -> int:
        return self.scene.snapshot.sample.gpus[0].utilization_percent


def test_stepping_back_shows_what_was_and_stays_there(make: Any) -> None:
    """Also while new readings come, which are told by their incidents and the growing age."""
    it = Watched(make, 60)
    assert it.shown == 59
    assert it.watch.step(-1)
    assert it.watch.step(-9)
    assert it.shown == 49
    assert it.scene.now_s == 1049.0
    it.hear(60, incidents=[make.incident()])
    assert it.shown == 49
    assert it.scene.held.for_s == 11.0
    assert it.scene.held.new_incidents == 1
    assert it.watch.step(1)
    assert it.shown == 50
    it.watch.go_on()
    assert it.shown == 60
    assert it.scene.held is None


def test_one_cannot_step_out_of_what_is_kept(make: Any) -> None:
    """Before the first reading is the first one, behind the last one the last one."""
    it = Watched(make, 5)
    assert it.watch.step(-100)
    assert it.shown == 0
    assert not it.watch.step(-1)
    assert it.watch.step(100)
    assert it.shown == 4
    assert not it.watch.step(1)
    assert not Watch(0.0).step(-1)
    assert not Watch(0.0).leap(-60)


def test_a_minute_is_a_minute_of_the_node_s_clock(make: Any) -> None:
    """However many readings that is; further than is kept is said."""
    it = Watched(make, 90)
    assert it.watch.leap(-60)
    assert it.shown == 29
    assert not it.watch.leap(-60)
    assert it.shown == 0
    assert it.watch.leap(60)
    assert it.shown == 60
    assert not it.watch.leap(60)
    assert it.shown == 89


def test_the_pictures_of_the_past_end_where_it_does(make: Any) -> None:
    """Histories show nothing that came after the moment."""
    it = Watched(make, 90)
    full = it.scene.histories[0]
    it.watch.leap(-60)
    then = it.scene.histories[0]
    assert len(full) - len(then) == pytest.approx(10, abs=2)
    assert full[: len(then) - 2] == then[:-2]
    assert max(value for value in then if value is not None) < 40


def test_whatever_a_snapshot_holds_comes_back(make: Any) -> None:
    """Types that are plain inside, and values that only pickle knows how to write."""
    link = LinkSample("mlx5_0/1", state="active", counters={"symbol_error": 3})
    plain = make.around(
        make.trouble(),
        links=(link,),
        tcp=TcpSample(1.0, connections=2, missing={"rtt_worst_us": "none"}),
        ancestors=(Ancestor(1, 0, "root", "init"),),
    )
    flags = make.snapshot(gpus=[make.gpu(0, clock_reasons=ClockReasons.HW_SLOWDOWN)])
    for snapshot in (plain, flags):
        one = packed(snapshot)
        assert unpacked(one) == snapshot
        assert one.as_objects == (snapshot is flags)
