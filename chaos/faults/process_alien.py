"""Somebody's process where none of theirs should be."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Percent, Size
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.jobs.process import JobSpec
from fakes.world import World


@fault("process", by="alien")
@dataclass(frozen=True, slots=True)
class Alien:
    """Start a process of a user on a GPU, outside any job.

    ``alien`` is the user's name: mallory, or whoever has one of the node's jobs. On a live node
    anybody else is whoever runs it.
    """

    gpu: Gpus
    alien: str
    memory: Size = Size(2 << 30)
    load: Percent = Percent(30)
    command: str = "./miner --pool example.invalid"

    does_not_prove: ClassVar[str] = (
        "how the process came there, or that it would be told by its name"
    )

    def apply(self, world: World, undo: Undo) -> None:
        """Start one on each GPU."""
        for gpu in self.gpu.find(world):
            node = world.node_of(gpu)
            spec = JobSpec(
                "",
                (gpu.index,),
                load=self.load.share,
                memory_bytes=self.memory.bytes,
                user=self.alien,
                command=self.command,
            )
            (process,) = node.start_job(spec, world.now_us)
            undo.push(partial(_end, world, node.name, process.pid))


def _end(world: World, node: str, pid: int) -> None:
    world.nodes[node].end_process(pid, world.now_us)
