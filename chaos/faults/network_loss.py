"""A network that loses packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Percent
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("network", by="loss")
@dataclass(frozen=True, slots=True)
class Loss:
    """Let such a share of the packets to or from the nodes be lost."""

    node: Nodes
    loss: Percent

    does_not_prove: ClassVar[str] = "that a lossless fabric would lose any"

    def apply(self, world: World, undo: Undo) -> None:
        """Lose them from now on."""
        for name in self.node.resolve(Inventory.of(world)):
            trouble = world.nodes[name].network.trouble
            with undo.keeping_attribute(trouble, "loss"):
                trouble.loss = self.loss.share
