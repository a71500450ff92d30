"""Rows of a GPU's memory that wait to be replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.faults.uncorrectable import keep_memory
from chaos.format.values import Count
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.hardware.memory_faults import mark_bad
from fakes.world import World


@fault("remap", by="pending")
@dataclass(frozen=True, slots=True)
class RowsPending:
    """Mark so many rows of a GPU's memory for replacement at its next reset (Xid 63 for each)."""

    gpu: Gpus
    pending: Count

    does_not_prove: ClassVar[str] = "that the reset would put the spare rows in their place"

    def apply(self, world: World, undo: Undo) -> None:
        """Mark them now."""
        for gpu in self.gpu.find(world):
            need_rows(gpu)
            keep_memory(gpu, undo)
            for _ in range(self.pending.number):
                mark_bad(world.node_of(gpu), gpu, world.now_us)


def need_rows(gpu: Gpu) -> None:
    """Refuse a GPU that has no spare rows."""
    if not gpu.profile.remaps_rows:
        raise FaultError(
            f"{gpu.node}/{gpu.index} ({gpu.profile.model}) remaps no rows: it retires pages"
        )
