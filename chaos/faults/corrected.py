"""Errors of a GPU's memory that ECC corrects, at a rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.faults.uncorrectable import keep_memory
from chaos.format.values import Count
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.memory_faults import correct
from fakes.world import World


@fault("ecc", by="corrected_per_s")
@dataclass(frozen=True, slots=True)
class CorrectedErrors:
    """Let ECC correct so many errors a second in a GPU's frame buffer.

    From ten a second on the driver stops being interrupted by them, and says so (Xid 92).
    """

    gpu: Gpus
    corrected_per_s: Count

    does_not_prove: ClassVar[str] = (
        "that a real GPU would stay right, or not slow down, with as many corrections"
    )

    def apply(self, world: World, undo: Undo) -> None:
        """Let them come from now on."""
        for gpu in self.gpu.find(world):
            keep_memory(gpu, undo)
            correct(world.node_of(gpu), gpu, self.corrected_per_s.number, world.now_us)
