"""A board whose on-chip memories have failed before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.faults.uncorrectable import keep_memory
from chaos.format.values import Count
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.world import World


@fault("ecc", by="sram_aggregate")
@dataclass(frozen=True, slots=True)
class SramAggregate:
    """Let a GPU's memory on the chip have had so many uncorrectable errors over its life.

    More than four raise the driver's flag that there were too many. Nothing happens now.
    """

    gpu: Gpus
    sram_aggregate: Count

    does_not_prove: ClassVar[str] = "that the driver of a real board goes by the same number"

    def apply(self, world: World, undo: Undo) -> None:
        """Write it into the board."""
        for gpu in self.gpu.find(world):
            keep_memory(gpu, undo)
            gpu.memory_errors.aggregate_sram_uncorrected = self.sram_aggregate.number
