"""Memory of a process that ended without letting go of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Size
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.jobs.process import JobSpec
from fakes.node import Node
from fakes.world import World


@fault("memory", by="zombie")
@dataclass(frozen=True, slots=True)
class Zombie:
    """Let a process that ended long ago still hold memory: the driver lists its PID."""

    gpu: Gpus
    zombie: Size
    user: str = "bob"
    command: str = "python3 notebook.py"

    does_not_prove: ClassVar[str] = "that ending its parent, or its children, would free the memory"

    def apply(self, world: World, undo: Undo) -> None:
        """Start a process on each GPU, and end it but for its memory."""
        for gpu in self.gpu.find(world):
            node = world.node_of(gpu)
            spec = JobSpec(
                "",
                (gpu.index,),
                load=0.0,
                memory_bytes=self.zombie.bytes,
                user=self.user,
                command=self.command,
            )
            (process,) = node.start_job(spec, world.now_us)
            undo.push(partial(_bury, node, process.pid, world))
            node.leave_zombie(process.pid, world.now_us)


def _bury(node: Node, pid: int, world: World) -> None:
    node.bury_zombie(pid, world.now_us)
