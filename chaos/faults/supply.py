"""A power supply that has failed, or one breaker of two: less for all GPUs of the node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Watts
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.node import Node
from fakes.world import World


@fault("power", by="supply")
@dataclass(frozen=True, slots=True)
class Supply:
    """Leave a node's GPUs so much power together.

    As soon as they want more, the brake is pulled on all of them, until they want less.
    """

    node: Nodes
    supply: Watts

    does_not_prove: ClassVar[str] = "that a real supply would brake before it switches itself off"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it have no more from now on."""
        for name in self.node.resolve(Inventory.of(world)):
            _limit(world.nodes[name], self.supply.milliwatts, world, undo)


def _limit(node: Node, capacity_mw: int, world: World, undo: Undo) -> None:
    with undo.keeping(
        (node, "supply"),
        lambda: node.supply.capacity_mw,
        lambda before_mw: node.supply.give(before_mw, world.now_us),
    ):
        node.supply.give(capacity_mw, world.now_us)
