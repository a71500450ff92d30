"""Memory that the driver counts as used, and that nobody holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Size
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware import unowned
from fakes.hardware.gpu import Gpu
from fakes.world import World


@fault("memory", by="leak")
@dataclass(frozen=True, slots=True)
class Leak:
    """Let the driver forget to free memory: so much is used, and no process is listed for it."""

    gpu: Gpus
    leak: Size

    does_not_prove: ClassVar[str] = "that a reset would give the memory back"

    def apply(self, world: World, undo: Undo) -> None:
        """Lose so much memory on each GPU."""
        for gpu in self.gpu.find(world):
            undo.push(partial(_give_back, gpu, self.leak.bytes, world))
            unowned.leak(gpu, self.leak.bytes, world.now_us)


def _give_back(gpu: Gpu, size_bytes: int, world: World) -> None:
    unowned.leak(gpu, -size_bytes, world.now_us)
