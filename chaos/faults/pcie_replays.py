"""A PCIe link on which packets have to be sent again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.recurring import count_up
from chaos.format.values import Count
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.pcie import PcieLink
from fakes.world import World


@fault("pcie", by="replays_per_minute")
@dataclass(frozen=True, slots=True)
class Replays:
    """Let so many packets a minute have to be sent again over a GPU's PCIe link.

    Healing ends that; what was counted stays counted.
    """

    gpu: Gpus
    replays_per_minute: Count

    does_not_prove: ClassVar[str] = "that the link would not go on to fail, or to retrain"

    def apply(self, world: World, undo: Undo) -> None:
        """Count them from now on."""
        for gpu in self.gpu.find(world):
            actor = f"pcie/{gpu.node}/{gpu.index}"
            count = partial(_count, gpu.pcie)
            count_up(world, undo, actor, self.replays_per_minute.number, count)


def _count(link: PcieLink, by: int) -> None:
    link.replays += by
