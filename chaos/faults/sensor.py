"""A temperature sensor that lies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Celsius
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.world import World


@fault("thermal", by="sensor")
@dataclass(frozen=True, slots=True)
class Sensor:
    """Let a GPU's temperature sensor read what it is told, such as 0C or 255C.

    The GPU itself is as warm as it is, and goes by that.
    """

    gpu: Gpus
    sensor: Celsius

    does_not_prove: ClassVar[str] = "that a real GPU would not go by its sensor and slow down"

    def apply(self, world: World, undo: Undo) -> None:
        """Let each sensor lie."""
        for gpu in self.gpu.find(world):
            with undo.keeping_attribute(gpu, "sensor_c"):
                gpu.sensor_c = round(self.sensor.degrees)
