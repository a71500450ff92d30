"""Nodes that do not reach each other, though every link is up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.nccl.outage import network_changed
from fakes.world import World


@fault("network", by="cut_off")
@dataclass(frozen=True, slots=True)
class Partition:
    """Let nothing get through between the nodes and those in ``cut_off``, on any network.

    Their links stay up, as behind a switch that lost its routes, or a firewall.
    """

    node: Nodes
    cut_off: Nodes

    does_not_prove: ClassVar[str] = "that only one direction would be cut, which happens as well"

    def apply(self, world: World, undo: Undo) -> None:
        """Cut them off from each other."""
        inventory = Inventory.of(world)
        here, there = self.node.resolve(inventory), self.cut_off.resolve(inventory)
        if both := set(here) & set(there):
            raise FaultError(f"{min(both)} cannot be cut off from itself")
        for name in here:
            trouble = world.nodes[name].network.trouble
            with undo.keeping_attribute(trouble, "cut_off"):
                trouble.cut_off = trouble.cut_off | frozenset(there)
        for name in (*here, *there):
            network_changed(world, world.nodes[name])
