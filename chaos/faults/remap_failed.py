"""A row of a GPU's memory for which there is no spare one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.faults.rows_pending import need_rows
from chaos.faults.uncorrectable import keep_memory
from chaos.format.values import Count
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.memory_faults import fail_to_remap
from fakes.world import World


@fault("remap", by="failed")
@dataclass(frozen=True, slots=True)
class RemapFailed:
    """Let so many rows of a GPU's memory not be replaced: their bank has no spare row (Xid 64)."""

    gpu: Gpus
    failed: Count

    does_not_prove: ClassVar[str] = "that field diagnostics would condemn the board"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it fail now."""
        for gpu in self.gpu.find(world):
            need_rows(gpu)
            keep_memory(gpu, undo)
            for _ in range(self.failed.number):
                fail_to_remap(world.node_of(gpu), gpu, world.now_us)
