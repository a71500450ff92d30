"""Worlds to test on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pynvml
import pytest

from fakes.jobs.process import JobSpec
from fakes.node import Node
from fakes.nvml.answer import Answer, Call, answer
from fakes.nvml.function import Function, Kind
from fakes.nvml.inprocess import installed
from fakes.nvml.pending import in_its_time
from fakes.profile import load_profile
from fakes.world import World

MakeWorld = Callable[..., World]


@pytest.fixture
def make_world() -> MakeWorld:
    """A world of one node ``n0``; a warm training job on every GPU unless ``idle``."""

    def make(
        *,
        gpus: int = 2,
        seed: int = 0,
        idle: bool = False,
        load: float = 0.95,
        model: str = "h100-sxm",
    ) -> World:
        node = Node("n0", load_profile(model), gpus, seed=seed)
        world = World([node], seed=seed)
        if not idle:
            memory_bytes = node.gpus[0].capacity_bytes * 3 // 4
            if model == "h100-sxm":
                memory_bytes = 60 << 30
            job = JobSpec("train", tuple(range(gpus)), load=load, memory_bytes=memory_bytes)
            node.start_job(job, 0)
        node.settle(0)
        return world

    return make


@dataclass
class Rig:
    """nvidia-ml-py on a fake node, at a moment that the test sets."""

    world: World
    nvml: Any
    library: Any = None
    at_us: int = 3_000_000

    @property
    def node(self) -> Node:
        return self.world.nodes["n0"]

    def handle(self, index: int = 0) -> Any:
        return self.nvml.nvmlDeviceGetHandleByIndex(index)

    def ask(self, call: Call, at_us: int) -> Answer:
        return answer(self.node, call, at_us)

    def park(self, due_us: int) -> None:
        """Somebody waits: go on to when it is over, or to when something happens before that."""
        self.at_us = min(due_us, self.world.next_us())
        self.world.advance(self.at_us)


@pytest.fixture
def new_rig(make_world: MakeWorld) -> Callable[..., Rig]:
    """A rig that no carrier serves yet."""
    return lambda **kinds: Rig(make_world(**kinds), pynvml)


@pytest.fixture
def make_rig(new_rig: Callable[..., Rig]) -> Iterator[Callable[..., Rig]]:
    """Make a world, and let nvidia-ml-py's own code read its node for the rest of the test."""
    with contextlib.ExitStack() as stack:

        def make(**kinds: Any) -> Rig:
            rig = new_rig(**kinds)
            rig.library = stack.enter_context(
                installed(in_its_time(rig.ask, lambda: rig.at_us, rig.park))
            )
            pynvml.nvmlInit()
            return rig

        yield make


@pytest.fixture
def rig(make_rig: Callable[..., Rig]) -> Rig:
    """Two GPUs under a training job."""
    return make_rig()


InputsOf = Callable[..., tuple[Any, ...]]


@pytest.fixture(scope="session")
def inputs_of() -> InputsOf:
    """Inputs of a function as a carrier hands them over; every number in them is ``number``."""

    def make(function: Function, version: int | None = None, number: int = 0) -> tuple[Any, ...]:
        sized = (Kind.TEXT_OUT, Kind.ARRAY, Kind.EACH)
        sizes = {param.partner for param in function.params if param.kind in sized}
        found: list[Any] = []
        for at, param in enumerate(function.params):
            if param.kind is Kind.DEVICE and at:
                found.append(1)
            elif param.kind in (Kind.U32, Kind.U64, Kind.HANDLE) and at not in sizes:
                found.append(number)
            elif param.kind is Kind.TEXT_IN:
                found.append(b"nothing")
            elif param.kind is Kind.STRUCT_IN:
                found.append(bytes(param.size))
            elif param.kind in (Kind.VERSIONED, Kind.VERSIONED_LIST):
                word = param.versions[0] if version is None else version
                found.append((word, *[number] * (len(param.words) - 1)))
            elif param.kind is Kind.EACH:
                found.append(bytes(2 * param.size))
            elif param.kind is Kind.VERSIONED_EACH:
                found.append(bytes(param.list_at))
        return tuple(found)

    return make
