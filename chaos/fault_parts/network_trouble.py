"""What the faults of a whole network share: whose packets are in trouble, and since when."""

from __future__ import annotations

from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.world import World


def trouble_packets(nodes: Nodes, attribute: str, value: float, world: World, undo: Undo) -> None:
    """Set what happens to every packet to or from the nodes
    (:class:`fakes.network.network.Trouble`), until it is undone.
    """
    for name in nodes.resolve(Inventory.of(world)):
        trouble = world.nodes[name].network.trouble
        with undo.keeping_attribute(trouble, attribute):
            setattr(trouble, attribute, value)
