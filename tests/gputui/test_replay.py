"""A recording is played at its pace or another, stands still, and can be moved in."""

import io
import itertools
import time

import pytest

from gputui.model import LogLine
from gputui.monitor import Monitor, MonitorOptions
from gputui.recording import CaptureWriter, SampleRecord
from gputui.sources import playback as knobs
from gputui.sources.replay import ReplaySource


@pytest.fixture
def recording(make, tmp_path):
    """Writes a recording with a reading a second, and an Xid 79 on GPU 5 after 40 seconds."""

    def write(seconds=120, gap_s=0.0, xid_at=40):
        out = io.StringIO()
        writer = CaptureWriter(out)
        writer.start("n0", 1000.0)
        for second in range(seconds):
            at_s = 1000.5 + second + (gap_s if second > 10 else 0.0)
            lost = (make.lost(5),) if second > xid_at else ()
            writer.sample(make.node(at_s, *lost))
            if second == xid_at:
                text = f"NVRM: Xid (PCI:{make.BUSES[5]}): 79, GPU has fallen off the bus."
                writer.log(LogLine(at_s + 0.2, "kernel", text), "n0")
        path = tmp_path / "day.jsonl"
        path.write_text(out.getvalue())
        return path

    return write


class Played:
    """A source on a clock that the test moves."""

    def __init__(self, path):
        self.source = ReplaySource(str(path))
        self.playback = self.source.playback
        self.now_s = time.monotonic()
        assert self.after(0.0) == []

    def after(self, seconds):
        """The times (seconds of the recording) of the readings that come within so long."""
        self.now_s += seconds
        times = []
        while records := self.source.read(self.now_s):
            times += [one.t for one in records if isinstance(one, SampleRecord)]
        return times


@pytest.fixture
def played(recording):
    made = []

    def make(**given):
        made.append(Played(recording(**given)))
        return made[-1]

    yield make
    for one in made:
        one.source.close()


def test_it_goes_at_its_own_pace_and_knows_its_end(played):
    """A reading a second, as it was recorded; the end is known from the start."""
    it = played()
    assert it.after(3.0) == [0.5, 1.5, 2.5]
    assert it.playback.state.end_s == 119.5
    assert it.source.due_s(it.now_s) == pytest.approx(0.5)


def test_it_stands_still_and_goes_on(played):
    """While it is paused nothing is due, however long that lasts."""
    it = played()
    assert it.after(2.0) == [0.5, 1.5]
    it.playback.pause()
    assert it.after(500.0) == []
    assert it.source.due_s(it.now_s) is None
    assert it.playback.state.is_paused
    it.playback.step()
    assert it.after(0.0) == [2.5]
    it.playback.resume()
    it.now_s = time.monotonic()
    assert it.after(1.1) == [3.5]


def test_its_speed_is_bounded(played):
    """Twice as fast is twice as many readings; a twelfth doubling changes nothing."""
    it = played()
    it.playback.change_speed(2.0)
    it.now_s = time.monotonic()
    assert len(it.after(5.0)) == pytest.approx(10, abs=1)
    for _ in range(12):
        it.playback.change_speed(2.0)
    assert it.playback.state.speed == knobs.FASTEST
    for _ in range(20):
        it.playback.change_speed(0.5)
    assert it.playback.state.speed == knobs.SLOWEST


def test_a_gap_is_not_waited_out(played):
    """Nobody looks at a recording that says nothing for an hour."""
    it = played(gap_s=3600.0)
    before = it.after(11.0)
    assert before[-1] == 10.5
    assert it.source.due_s(it.now_s) <= knobs.LONGEST_PAUSE_S
    assert it.after(knobs.LONGEST_PAUSE_S + 0.1)[0] == 3611.5


def test_going_to_a_place_gives_what_leads_there(played):
    """All readings before it, at once; back is a new beginning."""
    it = played()
    it.after(2.0)
    it.playback.pause()
    it.playback.seek(60.0)
    assert it.playback.state.is_moving
    assert it.after(0.0)[-1] == 59.5
    assert not it.playback.state.is_moving
    assert it.source.restarts == 0
    it.playback.seek(30.0)
    assert it.after(0.0)[-1] == 29.5
    assert it.source.restarts == 1
    it.playback.seek(-10.0)
    assert it.after(0.0) == [0.5]
    it.playback.seek(1e9)
    assert it.after(0.0)[-1] == 119.5
    assert it.playback.state.is_over
    assert not it.playback.state.is_moving
    assert it.source.notice == "The recording is over."


class Heard:
    def __init__(self):
        self.snapshots = []

    def __call__(self, snapshot):
        self.snapshots.append(snapshot)


def wait_until(true):
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def monitor(recording):
    monitor = Monitor(MonitorOptions(source=f"replay={recording()}", kernel_log="none"))
    heard = Heard()
    monitor.start(heard)
    yield monitor, heard
    monitor.stop()


def test_what_is_known_at_a_place_does_not_depend_on_how_one_came_there(monitor):
    """Forward past an incident, back before it, and forward again."""
    monitor, heard = monitor

    def at(second):
        monitor.playback.seek(second)
        wait_until(lambda: heard.snapshots and heard.snapshots[-1].sample.time_s == 999.5 + second)
        time.sleep(0.05)
        last = heard.snapshots[-1]
        states = [status.state.value for status in last.statuses]
        return states, [(one.kind, one.opened_s, one.count) for one in last.incidents]

    monitor.playback.pause()
    after = at(80)
    assert after[0][5] == "lost"
    assert ("GpuLost", 1040.7, 1) in [(k, round(o, 3), c) for k, o, c in after[1]]
    assert at(20) == (["ok"] * 8, [])
    assert at(80) == after


def test_a_recording_that_stands_still_does_not_grow_stale(monitor):
    """Its readings have no age: time stands still with it."""
    monitor, heard = monitor
    wait_until(lambda: heard.snapshots)
    monitor.playback.pause()
    count = len(heard.snapshots)
    time.sleep(4.5)
    last = heard.snapshots[-1]
    assert {status.state.value for status in last.statuses} == {"ok"}
    assert all(not one.silent_s for one in itertools.islice(heard.snapshots, count, None))
