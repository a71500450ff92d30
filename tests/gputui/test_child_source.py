"""Who is listened to when samplers hang, end and come back: the policy, without processes."""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputui.exit_codes import ANOTHER_PLEASE
from gputui.model import GpuSample, NodeSample
from gputui.recording import SampleRecord
from gputui.silence import DRIVER
from gputui.sources.child import MOST_ASIDE, ChildSource
from gputui.sources.progress import Asking

COUNT = 4
PATIENCE_S = 3.0


class Machine:
    """Four GPUs, a clock, and the samplers that were started on them."""

    def __init__(self):
        self.now_s = 0.0
        self.stuck = set()
        self.samplers = []

    def start(self, interval_s, skip):
        one = FakeSampler(self, skip)
        self.samplers.append(one)
        return one

    @property
    def alive(self):
        return [one for one in self.samplers if not one.ended]


@dataclass(eq=False)
class FakeSampler:
    """A sampler that reads once a second, and hangs at whatever is stuck."""

    machine: Machine
    skip: frozenset
    in_time: int = 0
    status: int = 0
    ended: bool = False
    stopped: bool = False
    asking: Asking | None = None
    heard_s: float | None = None

    descriptor = 0
    pid = 1

    @property
    def has_spoken(self):
        return self.heard_s is not None

    def hang(self, now_s):
        late = self.asking is not None and now_s - self.asking.since_s >= PATIENCE_S
        return self.asking if late else None

    def is_idle(self, now_s):
        return self.stopped and self.asking is None

    def due_s(self, now_s):
        return 1.0

    def read(self, now_s):
        if self.ended or self.stopped:
            return []
        asked = [*([DRIVER] if DRIVER in self.machine.stuck else [])]
        asked += [gpu for gpu in range(COUNT) if gpu in self.machine.stuck - self.skip]
        if self.asking is not None and self.asking.whom in self.machine.stuck:
            return []
        if asked:
            self.asking = Asking(asked[0], now_s)
            return []
        self.asking = None
        if self.heard_s is not None and now_s - self.heard_s >= PATIENCE_S + 1:
            self.in_time = 0
        self.heard_s = now_s
        self.in_time += 1
        gpus = tuple(GpuSample(gpu, power_mw=1) for gpu in range(COUNT) if gpu not in self.skip)
        return [SampleRecord(now_s, NodeSample("n0", now_s, gpu_count=COUNT, gpus=gpus))]

    def poke(self):
        pass

    def kill(self):
        self.ended = True

    def reap(self, timeout_s):
        return self.status


class Watched:
    """A source on such a machine, read once a second."""

    def __init__(self):
        self.machine = Machine()
        self.source = ChildSource(1.0, self.machine.start)

    def watch(self, seconds=1):
        """The last sample in so many seconds, None if none came."""
        sample = None
        for _ in range(seconds):
            self.machine.now_s += 1.0
            for record in self.source.read(self.machine.now_s):
                sample = record.sample
        return sample

    def codes(self, seconds=1):
        sample = self.watch(seconds)
        return None if sample is None else [gpu.return_code for gpu in sample.gpus]


@pytest.fixture
def watched():
    watched = Watched()
    assert watched.codes(2) == [0] * COUNT
    return watched


def test_others_are_read_without_the_suspect(watched):
    """Three seconds after the call began another sampler is started, which leaves it alone."""
    watched.machine.stuck = {2}
    assert watched.codes(3) is None
    assert watched.source.hang(watched.machine.now_s) is None
    assert watched.codes(2) == [0, 0, 10, 0]
    assert [one.skip for one in watched.machine.alive] == [frozenset(), frozenset({2})]
    assert watched.source.hang(watched.machine.now_s).asked == 2


def test_a_row_is_kept_for_the_gpu_that_is_left_alone(watched):
    """It is in its place, with its reason, and not taken for lost."""
    watched.machine.stuck = {2}
    gpu = watched.watch(6).gpus[2]
    assert (gpu.index, gpu.return_code, gpu.missing["power_mw"]) == (2, 10, "timed out")


def test_when_the_call_returns_the_first_one_takes_its_place_again(watched):
    """Two samples in time prove it; the second sampler is ended then, and not before."""
    watched.machine.stuck = {2}
    watched.watch(6)
    watched.machine.stuck = set()
    assert watched.codes(1) == [0, 0, 10, 0]
    assert len(watched.machine.alive) == 2
    watched.watch(1)
    assert watched.codes(1) == [0] * COUNT
    assert [one.skip for one in watched.machine.alive] == [frozenset()]


def test_one_call_that_returns_late_again_and_again_changes_nobodys_place(watched):
    """A GPU that answers every few seconds stays left alone, and nobody is started for it."""
    watched.machine.stuck = {2}
    watched.watch(6)
    for _ in range(10):
        watched.machine.stuck = set()
        assert watched.codes(1) == [0, 0, 10, 0]
        watched.machine.stuck = {2}
        assert watched.codes(6) == [0, 0, 10, 0]
    assert len(watched.machine.samplers) == 2


def test_two_gpus_may_hang_by_themselves(watched):
    """A second suspect is left alone as well, and each takes its place when it answers again."""
    watched.machine.stuck = {2}
    watched.watch(6)
    watched.machine.stuck = {2, 0}
    assert watched.codes(6) == [10, 0, 10, 0]
    watched.machine.stuck = {2}
    assert watched.codes(4) == [0, 0, 10, 0]
    watched.machine.stuck = set()
    assert watched.codes(4) == [0] * COUNT
    assert len(watched.machine.alive) == 1


def test_a_driver_that_hangs_as_a_whole_names_its_first_suspect(watched):
    """Others were tried, a bounded number of times; whoever answers first is listened to."""
    watched.machine.stuck = {2}
    watched.watch(2)
    watched.machine.stuck = {0, 1, 2, 3}
    assert watched.codes(60) is None
    hang = watched.source.hang(watched.machine.now_s)
    assert (hang.asked, hang.whole_driver) == (2, True)
    assert len(watched.machine.samplers) == MOST_ASIDE + 1
    watched.machine.stuck = set()
    assert watched.codes(5) == [0] * COUNT
    assert [one.skip for one in watched.machine.alive] == [frozenset()]


def test_a_call_that_concerns_all_is_tried_once_more_and_then_waited_for(watched):
    """Another session may get through where this one does not; a third will not."""
    watched.machine.stuck = {DRIVER}
    assert watched.codes(60) is None
    assert watched.source.hang(watched.machine.now_s).asked == DRIVER
    assert len(watched.machine.samplers) == 2
    watched.machine.stuck = set()
    assert watched.codes(5) == [0] * COUNT
    assert len(watched.machine.alive) == 1


def test_one_that_is_stopped_is_replaced(watched):
    """It hangs nowhere, so that nobody is left alone."""
    watched.machine.samplers[0].stopped = True
    assert watched.codes(3) == [0] * COUNT
    assert [one.skip for one in watched.machine.alive] == [frozenset()]


def test_a_gpu_is_tried_again_when_the_one_stuck_at_it_has_ended(watched):
    """A reset of the GPU ends whoever hangs at it; nobody else would notice that it is back."""
    watched.machine.stuck = {2}
    watched.watch(6)
    watched.machine.samplers[0].ended = True
    assert watched.codes(5) == [0, 0, 10, 0]
    watched.machine.stuck = set()
    assert watched.codes(20) == [0] * COUNT
    assert len(watched.machine.alive) == 1


def test_one_that_hangs_at_a_gpu_that_is_tried_again_does_not_disturb(watched):
    """The others are read all the while, and tries are few."""
    watched.machine.stuck = {2}
    watched.watch(6)
    for _ in range(30):
        for one in watched.machine.alive:
            if one.hang(watched.machine.now_s):
                one.ended = True
        assert watched.codes(20) == [0, 0, 10, 0]
    assert len(watched.machine.samplers) <= 2 + 600 // 10


def test_one_that_ends_is_started_again_and_said_when_it_happens_twice(watched):
    """One end is a hiccup; several in a row are told, with how it ended."""
    watched.machine.samplers[0].ended = True
    assert watched.codes(3) == [0] * COUNT
    for one in watched.machine.samplers:
        one.status = -6
    watched.machine.start = None
    watched.source._start = lambda interval_s, skip: FakeSampler(
        watched.machine, skip, ended=True, status=-6
    )
    watched.machine.alive[0].ended = True
    sample = watched.watch(10)
    assert "was ended by SIGABRT" in sample.error


def test_one_that_asks_for_another_process_is_replaced_at_once(watched):
    """A library that became too old is no failure of the sampler's."""
    watched.machine.samplers[0].ended = True
    watched.machine.samplers[0].status = ANOTHER_PLEASE
    watched.watch(1)
    assert watched.codes(1) == [0] * COUNT


def test_nobody_is_left_when_it_is_closed(watched):
    """Not the one that is listened to, and not those that are stuck."""
    watched.machine.stuck = {0, 1, 2, 3}
    watched.watch(30)
    watched.source.close()
    assert watched.machine.alive == []
    assert watched.codes(5) is None


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sets(st.sampled_from([0, 1, 2, 3, DRIVER]), max_size=5),
            st.integers(1, 12),
            st.booleans(),
        ),
        max_size=12,
    )
)
def test_whatever_hangs_it_stays_bounded_and_recovers(steps):
    """At any time a bounded number of samplers; when nothing hangs any more, one, seeing all."""
    watched = Watched()
    for stuck, seconds, someone_ends in steps:
        watched.machine.stuck = stuck
        if someone_ends and watched.machine.alive:
            watched.machine.alive[-1].ended = True
        for _ in range(seconds):
            watched.watch(1)
            assert len(watched.machine.alive) <= MOST_ASIDE + 2
    watched.machine.stuck = set()
    assert watched.codes(100) == [0] * COUNT
    assert len(watched.machine.alive) == 1
