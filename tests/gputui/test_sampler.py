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
from gputui.sampler import sample_for_ever
from gputui.sources.nvml import DRIVER, NvmlReader
from gputui.sources.progress import Progress

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


def test_the_loop_runs_on_any_nvml(nvml):
    """Whoever brings an NVML of their own gets the same samples, and ends the loop by ``wait``."""
    samples = []
    waited = []

    def wait(seconds):
        waited.append(seconds)
        return len(samples) < 3

    sample_for_ever(NvmlReader(nvml), samples.append, wait, interval_s=0.01)
    assert [sample.gpu_count for sample in samples] == [2, 2, 2]
    assert all(0 <= seconds <= 0.01 for seconds in waited)


def test_pcie_is_measured_between_samples(nvml):
    """The first round gives every GPU its turn before the second sample."""
    samples = []
    sample_for_ever(NvmlReader(nvml), samples.append, lambda _: len(samples) < 2, interval_s=1.0)
    assert [gpu.pcie_rx_bytes_per_s for gpu in samples[1].gpus] == [1_024_000, 1_024_000]


def test_what_is_being_asked_can_be_read_by_another_process():
    """The mark is in shared memory: a stuck process need not speak."""
    progress = Progress.create()
    try:
        assert progress.asked is None
        child = os.fork()
        if child == 0:
            Progress(progress.descriptor).note(5)
            os._exit(0)
        os.waitpid(child, 0)
        assert progress.asked == 5
        progress.note(DRIVER)
        assert progress.asked == DRIVER
    finally:
        progress.close()


def test_the_interval_is_kept(nvml):
    """Samples do not drift by what reading takes."""
    stamps = []

    def write(_):
        stamps.append(time.monotonic())
        time.sleep(0.02)

    def wait(seconds):
        time.sleep(seconds)
        return len(stamps) < 6

    sample_for_ever(NvmlReader(nvml), write, wait, interval_s=0.05)
    assert stamps[-1] - stamps[0] >= 0.24
