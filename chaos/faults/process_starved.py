"""A process that waits for its data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.processes import find_process
from chaos.format.values import Percent
from chaos.selection import Gpus, JobId
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.world import World

_PRESSURE_PERCENT = 60.0
"""Of the time some task of the node waits for its storage while loaders read from it."""


@fault("process", by="starved")
@dataclass(frozen=True, slots=True)
class Starved:
    """Let a GPU's process have data for so much of its time alone: its node's storage is slow.

    The process is ``pid``, or that of ``job``, or the one that holds the most.
    """

    gpu: Gpus
    starved: Percent
    pid: int | None = None
    job: JobId | None = None

    does_not_prove: ClassVar[str] = "whether the storage, the network or the loader is slow"

    def apply(self, world: World, undo: Undo) -> None:
        """Slow one process on each GPU, and let the node's tasks wait."""
        for gpu in self.gpu.find(world):
            process = find_process(world, gpu, pid=self.pid, job=self.job)
            node = world.node_of(gpu)
            with undo.keeping_attribute(node, "io_pressure_percent"):
                node.io_pressure_percent = max(node.io_pressure_percent, _PRESSURE_PERCENT)
            _slow(gpu, process.pid, self.starved.share, world, undo)


def _slow(gpu: Gpu, pid: int, share: float, world: World, undo: Undo) -> None:
    def put(load: float) -> None:
        if pid in gpu.uses:
            gpu.ask(pid, load, world.now_us)

    def load() -> float:
        return gpu.uses[pid].load if pid in gpu.uses else 0.0

    with undo.keeping((gpu, pid, "load"), load, put):
        put(load() * share)
