"""A cooling loop that gives too little heat away."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Celsius
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.cooling import NOMINAL_COOLANT_C, warm
from fakes.hardware.gpu import Gpu
from fakes.world import World


@fault("thermal", by="coolant_temp")
@dataclass(frozen=True, slots=True)
class CoolantTemperature:
    """Let coolant of a temperature come to a GPU's plate (30 C is as designed)."""

    gpu: Gpus
    coolant_temp: Celsius

    does_not_prove: ClassVar[str] = (
        "that the loop's own protection would not have stopped the rack before"
    )

    def apply(self, world: World, undo: Undo) -> None:
        """Warm the coolant of the GPUs."""
        gpus = self.gpu.find(world)
        rise_k = self.coolant_temp.degrees - NOMINAL_COOLANT_C
        undo.push(partial(_warm, gpus, -rise_k, world))
        _warm(gpus, rise_k, world)


def _warm(gpus: tuple[Gpu, ...], by_k: float, world: World) -> None:
    warm(gpus, by_k, world.now_us)
