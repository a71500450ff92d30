"""A file with something else in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.files import change, check_path
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("file", by="content")
@dataclass(frozen=True, slots=True)
class Content:
    """Let a file of the node have this text, whether or not there was one.

    Healing puts back what was there, unless somebody has changed the file since.
    """

    node: Nodes
    path: str
    content: str

    does_not_prove: ClassVar[str] = "that what had read the file before would read it again"

    def __post_init__(self) -> None:
        """Refuse what no program would see."""
        check_path(self.path)

    def apply(self, world: World, undo: Undo) -> None:
        """Do it on each node."""
        text = (
            self.content if self.content.endswith("\n") or not self.content else f"{self.content}\n"
        )
        for name in self.node.resolve(Inventory.of(world)):
            change(world, world.nodes[name], self.path, text, undo)
