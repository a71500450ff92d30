"""Runs to test on, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chaos.fault import parse_fault
from chaos.fleet import Fleet, Given, build_world, training
from chaos.run import Active, Run
from fakes.gpu import Gpu

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


@pytest.fixture
def scenario_file(tmp_path: Path) -> Callable[[str], Path]:
    """Write a scenario file, ``drill.yaml``: ``scenario_file(text)`` is its path."""

    def write(text: str | bytes) -> Path:
        path = tmp_path / "drill.yaml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write
