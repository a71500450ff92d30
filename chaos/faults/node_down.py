"""A node that is gone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.hardware.recovery import come_back, fall
from fakes.world import World


@fault("node", by="down")
@dataclass(frozen=True, slots=True)
class NodeDown:
    """Take a node's power away (``down: true``), with all that runs on it; it stays off.

    Somebody may turn it on by its service processor. Healing gives the power back, and it boots.
    """

    node: Nodes
    down: bool

    does_not_prove: ClassVar[str] = "that its disks and its service processor would come up again"

    def __post_init__(self) -> None:
        """Refuse what breaks nothing."""
        if not self.down:
            raise ValueError("down: only true means anything.")

    def apply(self, world: World, undo: Undo) -> None:
        """Let it be off now."""
        for name in self.node.resolve(Inventory.of(world)):
            node = world.nodes[name]
            undo.push(partial(come_back, world, node))
            fall(world, node)
