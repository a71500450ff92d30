"""Pages of an older GPU's memory that are taken out of use."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.faults.uncorrectable import keep_memory
from chaos.format.values import Count
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.memory_faults import retire
from fakes.world import World


class Because(Enum):
    """Why a page is retired: two single-bit errors at one address, or a double-bit error."""

    SINGLE_BIT = "single_bit"
    DOUBLE_BIT = "double_bit"


@fault("remap", by="pages")
@dataclass(frozen=True, slots=True)
class PagesRetired:
    """Retire so many pages of a GPU before Ampere (Xid 63 for each), until the list is full (64).

    They wait for the driver to be loaded anew.
    """

    gpu: Gpus
    pages: Count
    because: Because = Because.DOUBLE_BIT

    does_not_prove: ClassVar[str] = "that a real board would still be taken back"

    def apply(self, world: World, undo: Undo) -> None:
        """Retire them now."""
        for gpu in self.gpu.find(world):
            if gpu.profile.remaps_rows:
                raise FaultError(
                    f"{gpu.node}/{gpu.index} ({gpu.profile.model}) retires no pages: it remaps rows"
                )
            keep_memory(gpu, undo)
            for _ in range(self.pages.number):
                retire(
                    world.node_of(gpu),
                    gpu,
                    world.now_us,
                    by_single_bits=self.because is Because.SINGLE_BIT,
                )
