"""A process that ends before its time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.processes import find_process
from chaos.selection import Gpus, JobId
from chaos.undo import Undo
from fakes.world import World


@fault("process", by="end")
@dataclass(frozen=True, slots=True)
class End:
    """End a GPU's process, as a kill would; its memory is free.

    The process is ``pid``, or that of ``job``, or the one that holds the most. Healing does not
    bring it back.
    """

    gpu: Gpus
    end: bool
    pid: int | None = None
    job: JobId | None = None

    does_not_prove: ClassVar[str] = "that the other ranks would notice, or how soon"

    def __post_init__(self) -> None:
        """Refuse what would break nothing."""
        if not self.end:
            raise ValueError("end: the only value is true.")

    def apply(self, world: World, undo: Undo) -> None:
        """End one process on each GPU."""
        for gpu in self.gpu.find(world):
            process = find_process(world, gpu, pid=self.pid, job=self.job)
            world.node_of(gpu).end_process(process.pid, world.now_us)
