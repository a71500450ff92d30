"""What a node's files say of how busy it is, as gputui's own reader takes it."""

from __future__ import annotations

import pytest

from chaos.fault import parse_fault
from chaos.undo import Layers, Undo
from fakes.files.kept import KeptFiles
from fakes.jobs.process import JobSpec
from fakes.node import Node
from fakes.profile import load_profile
from fakes.system.machine import CPUS
from fakes.system.uptime import load_average
from fakes.world import World
from gputui.sources.host import HostReader

SECOND_US = 1_000_000


@pytest.fixture
def world() -> World:
    return World([Node("n0", load_profile("h100-sxm"), 2)])


def read_twice(world, tmp_path):
    """A reading after ten seconds: the share of time is that between two looks."""
    files = KeptFiles(tmp_path, world.nodes["n0"], world)
    files.refresh()
    reader = HostReader(tmp_path)
    reader.read()
    world.advance(world.now_us + 10 * SECOND_US)
    files.refresh()
    return reader.read()


def test_the_processors_are_as_busy_as_the_load_says(world, tmp_path):
    """The share of time in /proc/stat is the load over the number of processors."""
    node = world.nodes["n0"]
    node.start_job(JobSpec("train", (0, 1)), 0)
    seen = read_twice(world, tmp_path)
    assert seen.cpu_count == CPUS
    assert seen.cpu_percent == pytest.approx(100 * load_average(node)[0] / CPUS, abs=0.2)


def test_time_that_was_spent_stays_spent(world, tmp_path):
    """The counters never step back, also when the processes that used the time have ended."""
    node = world.nodes["n0"]
    first, _ = node.start_job(JobSpec("train", (0, 1)), 0)
    world.advance(30 * SECOND_US)
    busy = node.processors.user_s(node.processes.values(), node.boots, world.now_us)
    node.end_process(first.pid, world.now_us)
    assert node.processors.user_s(node.processes.values(), node.boots, world.now_us) == busy > 0
    seen = read_twice(world, tmp_path)
    assert seen.cpu_percent == pytest.approx(100 * load_average(node)[0] / CPUS, abs=0.2)


def test_slow_storage_shows_as_pressure(world, tmp_path):
    """What a starved process does to its node is in /proc/pressure/io, and in nothing else."""
    world.nodes["n0"].start_job(JobSpec("train", (0,)), 0)
    arguments = {"gpu": "n0/0", "starved": "20%"}
    parse_fault("process", arguments).apply(world, Undo(Layers()))
    seen = read_twice(world, tmp_path)
    assert seen.io_pressure_percent == 60.0
    assert seen.cpu_pressure_percent == seen.memory_pressure_percent == 0.0
