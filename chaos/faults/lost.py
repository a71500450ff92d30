"""A GPU that no longer answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.driver.xid import raise_xid
from fakes.hardware.gpu import Identity, Lookup, Lost
from fakes.world import World

_OFF_THE_BUS = 79


@fault("lost")
@dataclass(frozen=True, slots=True)
class Lose:
    """Lose a GPU: nothing that runs on it or asks it gets an answer.

    ``lookup`` is what a new look-up of its handle gives; ``identity`` whether UUID, index and PCI
    address still answer on a handle held before. ``silent`` spares the kernel log its lines.
    """

    gpu: Gpus
    lookup: Lookup = Lookup.UNKNOWN
    identity: Identity = Identity.FAILS
    silent: bool = False

    does_not_prove: ClassVar[str] = "that a power cycle, or a new board, would bring the GPU back"

    def apply(self, world: World, undo: Undo) -> None:
        """Take each GPU off its bus."""
        for gpu in self.gpu.find(world):
            with undo.keeping_attribute(gpu, "lost"):
                if self.silent:
                    gpu.lost = gpu.lost or Lost(world.now_us, self.lookup, self.identity)
                else:
                    raise_xid(
                        world.node_of(gpu),
                        gpu,
                        _OFF_THE_BUS,
                        world.now_us,
                        lookup=self.lookup,
                        identity=self.identity,
                    )
