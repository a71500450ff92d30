"""A process on a GPU opens a port to everybody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.processes import find_process
from chaos.selection import Gpus, JobId
from chaos.undo import Undo
from fakes.system.listening import Listening
from fakes.world import World

_MOST = 65_535


@fault("process", by="listens")
@dataclass(frozen=True, slots=True)
class Listens:
    """Let a GPU's process wait for connections at a port, on every interface of its node.

    The process is ``pid``, or that of ``job``, or the one that holds the most. Nothing really
    listens: it is so in virtual time.
    """

    gpu: Gpus
    listens: int
    pid: int | None = None
    job: JobId | None = None

    does_not_prove: ClassVar[str] = "that a firewall would have let anybody in"

    def __post_init__(self) -> None:
        """Refuse what is no port."""
        if not 0 < self.listens <= _MOST:
            raise ValueError(f"listens: expected a port, from 1 to {_MOST}.")

    def apply(self, world: World, undo: Undo) -> None:
        """Open it for one process on each GPU."""
        for gpu in self.gpu.find(world):
            process = find_process(world, gpu, pid=self.pid, job=self.job)
            node = world.node_of(gpu)
            with undo.keeping_attribute(node, "listening"):
                node.listening = (*node.listening, Listening(process.pid, self.listens))
