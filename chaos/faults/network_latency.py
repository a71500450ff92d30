"""A network on which everything takes longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Duration
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("network", by="latency")
@dataclass(frozen=True, slots=True)
class Latency:
    """Let every packet to or from the nodes take so much longer, each way."""

    node: Nodes
    latency: Duration

    does_not_prove: ClassVar[str] = "how much slower a job's collectives would be"

    def apply(self, world: World, undo: Undo) -> None:
        """Delay them from now on."""
        for name in self.node.resolve(Inventory.of(world)):
            trouble = world.nodes[name].network.trouble
            with undo.keeping_attribute(trouble, "latency_us"):
                trouble.latency_us = self.latency.us
