"""Banks of a GPU's memory that have used up their spare rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.faults.rows_pending import need_rows
from chaos.faults.uncorrectable import keep_memory
from chaos.format.values import Count
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.world import World


@fault("remap", by="banks_none")
@dataclass(frozen=True, slots=True)
class BanksUsedUp:
    """Let so many banks of a GPU's memory have no spare row left, and ``banks_low`` but few."""

    gpu: Gpus
    banks_none: Count
    banks_low: int = 0

    does_not_prove: ClassVar[str] = "that the next error would hit one of these banks"

    def apply(self, world: World, undo: Undo) -> None:
        """Use them up, in silence: the driver says nothing of it."""
        for gpu in self.gpu.find(world):
            need_rows(gpu)
            if self.banks_none.number + self.banks_low > gpu.profile.memory.banks:
                raise FaultError(
                    f"{gpu.node}/{gpu.index} has {gpu.profile.memory.banks} banks in all"
                )
            keep_memory(gpu, undo)
            gpu.remapped_rows = replace(
                gpu.remapped_rows, banks_none=self.banks_none.number, banks_low=self.banks_low
            )
