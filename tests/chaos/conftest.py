"""Runs to test on, in virtual time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaos.fault import parse_fault
from chaos.fleet import Fleet, Given, build_world, training
from chaos.run import Active, Run
from chaos.virtual.watching import Looks, Told, Watching
from fakes.hardware.gpu import Gpu
from fakes.jobs.process import JobSpec
from fakes.node import Node
from gputui.model import Incident

SECOND_US = 1_000_000


class VirtualRun:
    """A run of one node with a training job, whose time is set by hand (in seconds)."""

    def __init__(self, *, gpus: int, seed: int, idle: bool) -> None:
        fleet = Fleet(gpus=gpus)
        self.given = Given(fleet, () if idle else (training(fleet),))
        self.world = build_world(self.given, seed=seed)
        self.run = Run(self.world)
        self.node = self.world.nodes["n0"]

    @property
    def now_us(self) -> int:
        return self.world.now_us

    def at(self, seconds: float) -> VirtualRun:
        """Let time pass until ``seconds`` after the start."""
        self.run.advance(round(seconds * SECOND_US))
        return self

    def inject(self, family: str, *, for_s: float | None = None, **arguments: object) -> Active:
        """Inject a fault as a user would write it, and let what it does at once happen."""
        words = {name: str(value) for name, value in arguments.items()}
        for_us = None if for_s is None else round(for_s * SECOND_US)
        active = self.run.inject(parse_fault(family, words), for_us=for_us)
        self.run.advance(self.now_us)
        return active

    def gpu(self, index: int) -> Gpu:
        return self.node.gpus[index]

    def kernel_lines(self, text: str) -> list[float]:
        """When, in seconds, a kernel line with ``text`` in it was written."""
        return [line.at_us / SECOND_US for line in self.node.kernel_log.lines if text in line.text]


@pytest.fixture
def virtual_run() -> Callable[..., VirtualRun]:
    """Make runs: ``virtual_run(gpus=2)``."""

    def make(*, gpus: int = 2, seed: int = 0, idle: bool = False) -> VirtualRun:
        return VirtualRun(gpus=gpus, seed=seed, idle=idle)

    return make


@dataclass(frozen=True)
class Opened:
    """An incident as it is now, when it was first told (in seconds), and how long after the last
    fault before that.
    """

    incident: Incident
    at_s: float
    took_s: float


class Watched:
    """A run of one node that gputui watches, in virtual time; see the fixture ``watched``."""

    def __init__(self, run: Run, watching: Watching) -> None:
        self.run_of = run
        self.world = run.world
        self.node: Node = run.world.nodes["n0"]
        self.watching = watching
        self._injected_s: list[float] = [0.0]

    @property
    def now_s(self) -> float:
        """Seconds since the start."""
        return self.world.now_us / SECOND_US

    @property
    def told(self) -> list[Told]:
        """Every incident at each of its changes, with its time."""
        return self.watching.told

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """The open ones, the worst first, children behind their parent."""
        return self.watching.incidents

    def kinds(self) -> list[str]:
        """The kinds of the open incidents that are no children, the worst first."""
        return [one.kind for one in self.incidents if one.parent is None]

    def opened(self, kind: str | None = None, *, gpu: int | None = None) -> list[Opened]:
        """Everything that ever opened, of a kind and on a GPU if given, in the order of time."""
        first: dict[str, float] = {}
        last: dict[str, Incident] = {}
        for one in self.told:
            first.setdefault(one.incident.id, one.at_us / SECOND_US)
            last[one.incident.id] = one.incident
        return [
            Opened(last[name], at_s, at_s - max(s for s in self._injected_s if s <= at_s))
            for name, at_s in first.items()
            if kind in (None, last[name].kind) and gpu in (None, last[name].gpu)
        ]

    def the(self, kind: str) -> Opened:
        """The one incident of a kind that ever opened; fails if there are none, or several."""
        found = self.opened(kind)
        assert len(found) == 1, (kind, [one.incident for one in self.opened()])
        return found[0]

    def inject(self, family: str, *, for_s: float | None = None, **arguments: object) -> Active:
        """Inject a fault as a user would write it."""
        words = {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in arguments.items()
        }
        for_us = None if for_s is None else round(for_s * SECOND_US)
        active = self.run_of.inject(parse_fault(family, words), for_us=for_us)
        self._injected_s.append(self.now_s)
        self.watching.happened()
        return active

    def heal(self, fault_id: str) -> None:
        """Heal a fault."""
        self.run_of.heal(fault_id)
        self.watching.happened()

    def changed(self) -> None:
        """Say that the test changed the world by hand, just now."""
        self.watching.happened()

    def start_job(self, job: JobSpec) -> None:
        """Start a job."""
        self.node.start_job(job, self.world.now_us)
        self.watching.happened()

    def run(self, seconds: float) -> Watched:
        """Let time pass."""
        self.watching.until(self.world.now_us + round(seconds * SECOND_US))
        return self

    def gpu(self, index: int) -> Gpu:
        """A GPU of the world."""
        return self.node.gpus[index]


@pytest.fixture
def watched() -> Iterator[Callable[..., Watched]]:
    """Runs that gputui watches, in virtual time: what it says of a fault, and how fast.

    ::

        def test_a_lost_gpu(watched):
            run = watched()                                # 8 x h100-sxm under one training job
            run.run(10)
            run.inject("lost", gpu=3)                      # as in a scenario
            run.run(5)
            lost = run.the("GpuLost")                      # the only one of its kind
            assert (lost.incident.gpu, lost.incident.cause) == (3, "bus")
            assert lost.took_s <= 1                        # seconds since the fault
            assert run.kinds() == ["GpuLost"]              # open, and no child of another

    ``watched(model=..., gpus=..., idle=True, seed=..., looks="polling")``; without ``looks`` it
    looks where something happens. All between world and incident is gputui's own code: nvidia-ml-py
    on the fake NVML, the sampler's reader, the parsers of logs, the rules. A line that the world
    writes into its kernel log is heard at once; ``run.changed()`` is for a test that changes the
    world without a fault. Only one at a time: a second one closes the first.
    """
    with contextlib.ExitStack() as stack:

        def make(
            *,
            model: str = "h100-sxm",
            gpus: int = 8,
            idle: bool = False,
            seed: int = 0,
            looks: str = "event-driven",
            interval_s: float = 1.0,
            in_turn: bool = False,
        ) -> Watched:
            stack.close()
            fleet = Fleet(gpus=gpus, model=model)
            given = Given(fleet, () if idle else (training(fleet),))
            run = Run(build_world(given, seed=seed))
            watching = Watching(
                run,
                looks=Looks(looks),
                interval_us=round(interval_s * SECOND_US),
                in_turn=in_turn,
            )
            return Watched(run, stack.enter_context(watching))

        yield make


@pytest.fixture
def scenario_file(tmp_path: Path) -> Callable[[str], Path]:
    """Write a scenario file, ``drill.yaml``: ``scenario_file(text)`` is its path."""

    def write(text: str | bytes) -> Path:
        path = tmp_path / "drill.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
