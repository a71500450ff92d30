"""A process that dies and takes its memory with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.processes import find_process
from chaos.selection import Gpus, JobId
from chaos.undo import Undo
from fakes.node import Node
from fakes.world import World


@fault("process", by="zombie")
@dataclass(frozen=True, slots=True)
class Zombie:
    """End a GPU's process, but leave its memory held: the driver still lists its PID.

    The process is ``pid``, or that of ``job``, or the one that holds the most. Healing frees the
    memory; the process stays ended.
    """

    gpu: Gpus
    zombie: bool
    pid: int | None = None
    job: JobId | None = None

    does_not_prove: ClassVar[str] = "that ending its parent, or its children, would free the memory"

    def __post_init__(self) -> None:
        """Refuse what would break nothing."""
        if not self.zombie:
            raise ValueError("zombie: the only value is true.")

    def apply(self, world: World, undo: Undo) -> None:
        """End one process on each GPU."""
        for gpu in self.gpu.find(world):
            process = find_process(world, gpu, pid=self.pid, job=self.job)
            node = world.node_of(gpu)
            undo.push(partial(_bury, node, process.pid, world))
            node.leave_zombie(process.pid, world.now_us)


def _bury(node: Node, pid: int, world: World) -> None:
    node.bury_zombie(pid, world.now_us)
