"""The power brake: the board is told from outside to draw less, at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.world import World


@fault("power", by="brake")
@dataclass(frozen=True, slots=True)
class Brake:
    """Pull the power brake of a GPU: its clocks fall to half, whatever it has to do."""

    gpu: Gpus
    brake: bool

    does_not_prove: ClassVar[str] = (
        "that a supply, a cable or the rack's controller would pull it in time"
    )

    def __post_init__(self) -> None:
        """Refuse what breaks nothing."""
        if not self.brake:
            raise ValueError("brake: only 'true' pulls it; heal the fault to let go of it.")

    def apply(self, world: World, undo: Undo) -> None:
        """Pull it now."""
        by = f"fault/{id(undo)}"
        for gpu in self.gpu.find(world):
            undo.push(partial(_set, gpu, by, world, on=False))
            _set(gpu, by, world, on=True)


def _set(gpu: Gpu, by: str, world: World, *, on: bool) -> None:
    gpu.set_brake(by, world.now_us, on=on)
