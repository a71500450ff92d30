"""A leak: the memory of a process grows until something gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.processes import find_process
from chaos.format.values import Rate
from chaos.selection import Gpus, JobId
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.world import World


@fault("memory", by="grow")
@dataclass(frozen=True, slots=True)
class Grow:
    """Let the memory of a GPU's process grow at a rate.

    The process is ``pid``, or that of ``job``, or the one that holds the most. When the GPU is full
    its next allocation fails, and it ends. Healing gives back what it had grown by.
    """

    gpu: Gpus
    grow: Rate
    pid: int | None = None
    job: JobId | None = None

    does_not_prove: ClassVar[str] = (
        "that the framework's allocator would hold, fragment or return memory in the same way"
    )

    def apply(self, world: World, undo: Undo) -> None:
        """Let one process on each GPU grow."""
        for gpu in self.gpu.find(world):
            process = find_process(world, gpu, pid=self.pid, job=self.job)
            _grow(gpu, process.pid, self.grow.bytes_per_s, world, undo)


def _grow(gpu: Gpu, pid: int, bytes_per_s: int, world: World, undo: Undo) -> None:
    since_us = world.now_us

    def give_back() -> None:
        if pid in gpu.uses:
            memory = gpu.uses[pid].memory
            grown = bytes_per_s * (world.now_us - since_us) // 1_000_000
            gpu.hold(pid, memory.bytes_at(world.now_us) - grown, world.now_us)
            gpu.grow(pid, memory.bytes_per_s - bytes_per_s, world.now_us)

    undo.push(give_back)
    gpu.grow(pid, gpu.uses[pid].memory.bytes_per_s + bytes_per_s, since_us)
