"""Worlds to test on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fakes.node import Node
from fakes.process import JobSpec
from fakes.profile import load_profile
from fakes.world import World

MakeWorld = Callable[..., World]


@pytest.fixture
def make_world() -> MakeWorld:
    """A world of one node ``n0``; a warm training job on every GPU unless ``idle``."""

    def make(*, gpus: int = 2, seed: int = 0, idle: bool = False, load: float = 0.95) -> World:
        node = Node("n0", load_profile("h100-sxm"), gpus, seed=seed)
        world = World([node], seed=seed)
        if not idle:
            node.start_job(JobSpec("train", tuple(range(gpus)), load=load), 0)
        node.settle(0)
        return world

    return make
