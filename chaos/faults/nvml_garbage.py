"""One reading of a GPU that is rubbish, while all others are right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.faults.hang import keep_disturbed
from chaos.faults.nvml_reading import Reading
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.driver.disturbance import Misreading
from fakes.world import World


@fault("nvml", by="garbage")
@dataclass(frozen=True, slots=True)
class Garbage:
    """Let one reading of a GPU be rubbish: 0xBADF1100, as of a register that cannot be reached."""

    gpu: Gpus
    garbage: Reading

    does_not_prove: ClassVar[str] = "that other rubbish, such as a likely number, would be noticed"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it be rubbish from now on."""
        for gpu in self.gpu.find(world):
            misreading = Misreading(gpu.index, self.garbage.functions)
            keep_disturbed(world.node_of(gpu), misreading, undo)
