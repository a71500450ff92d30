"""A process that holds a GPU and does nothing with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.processes import find_process
from chaos.selection import Gpus, JobId
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.world import World


@fault("process", by="idle")
@dataclass(frozen=True, slots=True)
class Idle:
    """Let a GPU's process start no more kernels; it keeps its memory.

    The process is ``pid``, or that of ``job``, or the one that holds the most.
    """

    gpu: Gpus
    idle: bool
    pid: int | None = None
    job: JobId | None = None

    does_not_prove: ClassVar[str] = "whether the program waits for data, for a peer or for nobody"

    def __post_init__(self) -> None:
        """Refuse what would break nothing."""
        if not self.idle:
            raise ValueError("idle: the only value is true.")

    def apply(self, world: World, undo: Undo) -> None:
        """Let one process on each GPU rest."""
        for gpu in self.gpu.find(world):
            process = find_process(world, gpu, pid=self.pid, job=self.job)
            _rest(gpu, process.pid, world, undo)


def _rest(gpu: Gpu, pid: int, world: World, undo: Undo) -> None:
    def put(load: float) -> None:
        if pid in gpu.uses:
            gpu.ask(pid, load, world.now_us)

    def load() -> float:
        return gpu.uses[pid].load if pid in gpu.uses else 0.0

    with undo.keeping((gpu, pid, "load"), load, put):
        put(0.0)
