"""A node that still runs, and answers nobody."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.driver.disturbance import Hang, calm, disturb
from fakes.node import Node
from fakes.system.service_effects import miss, take_back
from fakes.world import World


@fault("node", by="hung")
@dataclass(frozen=True, slots=True)
class NodeHung:
    """Let a node's kernel be stuck (``hung: true``): driver and scheduler get no answer of it.

    Calls to its driver do not return. Healing lets everything go on.
    """

    node: Nodes
    hung: bool

    does_not_prove: ClassVar[str] = "that a program on a stuck node would still get so far"

    def __post_init__(self) -> None:
        """Refuse what breaks nothing."""
        if not self.hung:
            raise ValueError("hung: only true means anything.")

    def apply(self, world: World, undo: Undo) -> None:
        """Let it be stuck now."""
        for name in self.node.resolve(Inventory.of(world)):
            node = world.nodes[name]
            hang = Hang()
            undo.push(partial(take_back, node, world))
            undo.push(partial(calm, node, hang))
            disturb(node, hang)
            miss(node, world, partial(_is_stuck, node, hang))


def _is_stuck(node: Node, hang: Hang) -> bool:
    return any(one is hang for one in node.disturbances)
