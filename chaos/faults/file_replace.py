"""A text in a file that became another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.errors import quoted
from chaos.fault import FaultError, fault
from chaos.fault_parts.files import change, check_path, text_of
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("file", by="replace")
@dataclass(frozen=True, slots=True)
class Replace:
    """Replace a text, each time it stands in a file of the node, ``with`` another (or nothing).

    Healing puts it back, unless somebody has changed the file since.
    """

    node: Nodes
    path: str
    replace: str
    with_: str = ""

    does_not_prove: ClassVar[str] = "that what had read the file before would read it again"

    def __post_init__(self) -> None:
        """Refuse what replaces nothing, or in no file."""
        check_path(self.path)
        if not self.replace:
            raise ValueError("replace: it is empty.")

    def apply(self, world: World, undo: Undo) -> None:
        """Do it on each node."""
        for name in self.node.resolve(Inventory.of(world)):
            node = world.nodes[name]
            text = text_of(world, node, self.path)
            if text is None:
                raise FaultError(f"{name} has no {self.path} of its own: give its 'content'")
            if self.replace not in text:
                raise FaultError(f"there is no {quoted(self.replace)} in {self.path} of {name}")
            change(world, node, self.path, text.replace(self.replace, self.with_), undo)
