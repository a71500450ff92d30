"""A room too warm or too cold: the air that comes into a node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import Celsius
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.hardware.cooling import warm
from fakes.node import Node
from fakes.world import World


@fault("thermal", by="inlet")
@dataclass(frozen=True, slots=True)
class Inlet:
    """Let air of a temperature come into a node (22 C is as designed): all its GPUs follow."""

    node: Nodes
    inlet: Celsius

    does_not_prove: ClassVar[str] = "that the server's fans would not turn faster against it"

    def apply(self, world: World, undo: Undo) -> None:
        """Change the air of each node."""
        for name in self.node.resolve(Inventory.of(world)):
            node = world.nodes[name]
            rise_k = self.inlet.degrees - node.inlet_c
            undo.push(partial(_warm, node, -rise_k, world))
            _warm(node, rise_k, world)


def _warm(node: Node, by_k: float, world: World) -> None:
    node.inlet.set(node.inlet_c + by_k)
    warm(node.gpus, by_k, world.now_us)
