"""An allocation that is as large as it is sudden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.processes import find_process
from chaos.format.values import Size
from chaos.selection import Gpus, JobId
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.world import World


@fault("memory", by="to")
@dataclass(frozen=True, slots=True)
class To:
    """Let a GPU's process hold so much memory from now on.

    The process is ``pid``, or that of ``job``, or the one that holds the most. If the GPU has not
    so much, the allocation fails, and the process ends. Healing lets it hold what it did before.
    """

    gpu: Gpus
    to: Size
    pid: int | None = None
    job: JobId | None = None

    does_not_prove: ClassVar[str] = "that a framework would not catch the failure and go on"

    def apply(self, world: World, undo: Undo) -> None:
        """Let one process on each GPU hold it."""
        for gpu in self.gpu.find(world):
            process = find_process(world, gpu, pid=self.pid, job=self.job)
            _hold(gpu, process.pid, self.to.bytes, world, undo)


def _hold(gpu: Gpu, pid: int, size_bytes: int, world: World, undo: Undo) -> None:
    more = size_bytes - gpu.uses[pid].memory.bytes_at(world.now_us)

    def give_back() -> None:
        if pid in gpu.uses:
            held = gpu.uses[pid].memory.bytes_at(world.now_us)
            gpu.hold(pid, held - more, world.now_us)

    undo.push(give_back)
    gpu.hold(pid, size_bytes, world.now_us)
