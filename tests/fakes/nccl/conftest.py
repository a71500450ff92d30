"""Two nodes and a job over both, which can be started anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from fakes.jobs.process import JobSpec
from fakes.network.hosts import HOSTS
from fakes.node import Node
from fakes.profile import load_profile
from fakes.world import World

SECOND_US = 1_000_000


@dataclass
class Job:
    """A job on a few nodes, and what its ranks print: (node, rank, text)."""

    world: World
    specs: dict[str, JobSpec]
    said: list[tuple[str, int, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(text for _, _, text in self.said)

    @property
    def alive(self) -> int:
        return sum(len(node.processes) for node in self.world.nodes.values())

    def edit(self, node: str, old: str, new: str, path: str = HOSTS) -> None:
        files = self.world.nodes[node].files
        text = files.read(path) or ""
        assert old in text
        files.write(path, text.replace(old, new))

    def set(self, **settings: str) -> None:
        lines = "".join(f"export {name}={value}\n" for name, value in settings.items())
        self.world.homes.write("/home/alice/train.env", lines)

    def start(self, for_s: float = 200) -> str:
        """Start it anew and let it be; what its ranks said meanwhile."""
        world = self.world
        for node in world.nodes.values():
            for pid in tuple(node.processes):
                node.end_process(pid, world.now_us)
        self.said.clear()
        world.advance(world.now_us + 5 * SECOND_US)
        for name, spec in self.specs.items():
            world.nodes[name].start_job(spec, world.now_us)
        world.advance(world.now_us + round(for_s * SECOND_US))
        return self.text


@pytest.fixture
def make_job() -> Callable[..., Job]:
    """A job of two ranks on each node: ``make_job(nodes=3, nics=("eth0",))``."""

    def make(
        nodes: int = 2, nics: tuple[str, ...] = ("ens3", "ib0"), model: str = "h100-sxm"
    ) -> Job:
        profile = load_profile(model)
        world = World([Node(f"n{at}", profile, 2, nics=nics) for at in range(nodes)])
        specs = {
            f"n{at}": JobSpec("train", (0, 1), first_rank=2 * at, ranks=2 * nodes)
            for at in range(nodes)
        }
        for name, spec in specs.items():
            world.nodes[name].start_job(spec, 0)
        world.cluster.add("train", dict(specs))
        job = Job(world, specs)
        for node in world.nodes.values():
            node.job_log.listen(
                lambda line, name=node.name: job.said.append(
                    (name, line.process.spec.rank if line.process else -1, line.text)
                )
            )
        return job

    return make


@pytest.fixture
def job(make_job: Callable[..., Job]) -> Job:
    """A job on two nodes."""
    return make_job()
