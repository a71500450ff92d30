"""A file that is gone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.files import change, check_path
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("file", by="remove")
@dataclass(frozen=True, slots=True)
class Remove:
    """Remove a file of the node. Healing brings it back, unless somebody has written it anew."""

    node: Nodes
    path: str
    remove: bool

    does_not_prove: ClassVar[str] = "that what had read the file before would miss it"

    def __post_init__(self) -> None:
        """Refuse what removes nothing."""
        check_path(self.path)
        if not self.remove:
            raise ValueError("remove: it is false: leave the entry out.")

    def apply(self, world: World, undo: Undo) -> None:
        """Do it on each node."""
        for name in self.node.resolve(Inventory.of(world)):
            change(world, world.nodes[name], self.path, None, undo)
