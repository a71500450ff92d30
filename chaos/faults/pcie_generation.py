"""A PCIe link that runs at a lower generation than it could."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.faults.pcie_width import narrow
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.world import World


@fault("pcie", by="generation")
@dataclass(frozen=True, slots=True)
class Generation:
    """Let a GPU's PCIe link run at a lower generation, also under load."""

    gpu: Gpus
    generation: int

    does_not_prove: ClassVar[str] = "that a job would slow down as much as its traffic does here"

    def __post_init__(self) -> None:
        """Refuse what is no generation."""
        if not 1 <= self.generation <= 6:
            raise ValueError(f"generation: PCIe has generations 1 to 6, not {self.generation}.")

    def apply(self, world: World, undo: Undo) -> None:
        """Let it be slower from now on."""
        for gpu in self.gpu.find(world):
            highest = gpu.profile.pcie.generation
            if self.generation >= highest:
                raise FaultError(f"{gpu.node}/{gpu.index} has generation {highest}")
            narrow(gpu, world, undo, generation=self.generation)
