"""The sampler as a process: first sample at once, more on demand, gone with its parent."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gputui
from gputui.exit_codes import ANOTHER_PLEASE
from gputui.sampler import Wake, sample_for_ever
from gputui.silence import DRIVER
from gputui.sources.nvml import NvmlReader
from gputui.sources.progress import Progress
from gputui.sources.spawn import MARK_BYTES

ROOT = Path(gputui.__file__).parents[1]


@pytest.fixture
def sampler():
    """A sampler that asks once an hour unless told."""
    with subprocess.Popen(
        [sys.executable, "-m", "gputui.sampler", "--interval", "3600"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as child:
        yield child
        child.kill()


def records(child, count):
    return [json.loads(child.stdout.readline()) for _ in range(count)]


def test_the_first_sample_comes_at_once_and_the_next_on_demand(sampler):
    """Nobody waits for the interval to begin; a byte asks for a sample now."""
    start, sample = records(sampler, 2)
    assert (start["event"], sample["event"]) == ("start", "sample")
    sampler.stdin.write(b"\n")
    sampler.stdin.flush()
    (again,) = records(sampler, 1)
    assert again["time_s"] > sample["time_s"]


def test_the_sampler_goes_when_its_parent_goes(sampler):
    """The end of its input is the end of it, without a word."""
    records(sampler, 2)
    sampler.stdin.close()
    assert sampler.wait(timeout=10) == 0


def test_the_sampler_goes_when_nobody_reads(sampler):
    """A broken pipe is an ordinary end."""
    records(sampler, 2)
    sampler.stdout.close()
    sampler.stdin.write(b"\n")
    sampler.stdin.flush()
    assert sampler.wait(timeout=10) == 0


def test_ctrl_c_on_the_terminal_is_its_parents_business(sampler):
    """An interrupt does not end the sampler, nor make it print a traceback."""
    records(sampler, 2)
    sampler.send_signal(signal.SIGINT)
    sampler.stdin.write(b"\n")
    sampler.stdin.flush()
    assert records(sampler, 1)[0]["event"] == "sample"


class Samples:
    """What a loop writes, and a wait that ends it after so many samples."""

    def __init__(self, count, wakes=()):
        self.samples = []
        self.lines = []
        self.waited = []
        self._count = count
        self._wakes = list(wakes)

    def sample(self, sample):
        self.samples.append(sample)

    def log(self, line):
        self.lines.append(line)

    def wait(self, seconds):
        self.waited.append(seconds)
        time.sleep(min(seconds, 0.05))
        if len(self.samples) >= self._count:
            return Wake.END
        return self._wakes.pop(0) if self._wakes else Wake.DUE


def test_the_loop_runs_on_any_nvml(nvml):
    """Whoever brings an NVML of their own gets the same samples, and ends the loop by ``wait``."""
    got = Samples(3)
    assert sample_for_ever(NvmlReader(nvml), got, got.wait, interval_s=0.01) == 0
    assert [sample.gpu_count for sample in got.samples] == [2, 2, 2]
    assert all(0 <= seconds <= 0.01 for seconds in got.waited)


def test_what_changes_seldom_is_read_between_samples(nvml):
    """The second sample has everything, without having waited for it."""
    got = Samples(2)
    sample_for_ever(NvmlReader(nvml), got, got.wait, interval_s=1.0)
    assert [gpu.pcie_rx_bytes_per_s for gpu in got.samples[1].gpus] == [1_024_000, 1_024_000]
    assert [gpu.missing for gpu in got.samples[1].gpus] == [{}, {}]


def test_slow_readings_give_way_to_a_sample_that_is_asked_for(nvml):
    """A byte that comes in between them is obeyed at once, and what is slow is due again."""
    got = Samples(2, [Wake.ASKED])
    sample_for_ever(NvmlReader(nvml), got, got.wait, interval_s=3600.0)
    assert len(got.samples) == 2
    assert got.waited == [0.0, 0.0]


def test_slow_readings_are_made_even_if_there_is_never_time(nvml):
    """At an interval shorter than the slowest of them, one comes every few samples."""
    got = Samples(60)
    sample_for_ever(NvmlReader(nvml), got, got.wait, interval_s=0.001)
    measured = [len(sample.gpus[0].missing) for sample in got.samples]
    assert 0 < measured[-1] < measured[0]


def test_a_library_that_became_too_old_asks_for_another_process(nvml, monkeypatch):
    """After an upgrade of the driver only a new process loads the new library."""
    nvml.init_code = 18
    clock = iter(range(0, 1000, 3))
    monkeypatch.setattr("gputui.sampler.time.time", lambda: float(next(clock)))
    got = Samples(100)
    assert sample_for_ever(NvmlReader(nvml), got, got.wait, interval_s=0.001) == ANOTHER_PLEASE
    assert len(got.samples) == 5
    assert got.samples[0].error_code == 18
    assert "library 12.570.124.06" in got.samples[0].error


def test_an_xid_that_nvml_tells_comes_as_a_line(nvml):
    """Most users may not read the kernel log; the code and the address are enough."""
    got = Samples(3)

    def sample(one):
        got.samples.append(one)
        nvml.gpus[1].xids += [79, 45] if len(got.samples) == 2 else []

    got.sample = sample
    sample_for_ever(NvmlReader(nvml), got, got.wait, interval_s=0.01)
    assert [(line.source, line.text) for line in got.lines] == [
        ("nvml", "NVML event: Xid 79 on 0000:11:00"),
        ("nvml", "NVML event: Xid 45 on 0000:11:00"),
    ]


def test_what_is_being_asked_can_be_read_by_another_process():
    """The mark is in shared memory: a stuck process need not speak."""
    mark = os.memfd_create("mark")
    os.ftruncate(mark, MARK_BYTES)
    progress = Progress(mark)
    try:
        assert progress.asking is None
        before_s = time.monotonic()
        child = os.fork()
        if child == 0:
            Progress(progress.descriptor).note(5)
            os._exit(0)
        os.waitpid(child, 0)
        assert progress.asking.whom == 5
        assert before_s <= progress.asking.since_s <= time.monotonic()
        progress.note(DRIVER)
        assert progress.asking.whom == DRIVER
    finally:
        progress.close()


def test_the_interval_is_kept(nvml):
    """Samples do not drift by what reading takes."""
    got = Samples(6)
    stamps = []

    def sample(one):
        got.samples.append(one)
        stamps.append(time.monotonic())
        time.sleep(0.02)

    def wait(seconds):
        time.sleep(seconds)
        return Wake.DUE if len(stamps) < 6 else Wake.END

    got.sample = sample
    sample_for_ever(NvmlReader(nvml), got, wait, interval_s=0.05)
    assert stamps[-1] - stamps[0] >= 0.24
