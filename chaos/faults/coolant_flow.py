"""A pump or a valve: too little coolant for some GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.faults.airflow import block
from chaos.format.values import Percent
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.world import World


@fault("thermal", by="coolant_flow")
@dataclass(frozen=True, slots=True)
class CoolantFlow:
    """Let only so much of the designed flow of coolant pass a GPU's plate.

    What carries heat off goes as the mass that flows, of water as of air: resistance goes as
    1/flow.
    """

    gpu: Gpus
    coolant_flow: Percent

    does_not_prove: ClassVar[str] = (
        "that the loop's own protection would not have stopped the rack before"
    )

    def apply(self, world: World, undo: Undo) -> None:
        """Throttle the flow for each GPU."""
        for gpu in self.gpu.find(world):
            block(gpu, self.coolant_flow.share, world, undo)
