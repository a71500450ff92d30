"""What is to stand in a file of a node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chaos.condition import condition
from chaos.expectation import ReadingContext
from chaos.fault_parts.files import check_path, text_of
from chaos.selection import Inventory, Nodes
from fakes.world import World


@condition("file")
@dataclass(frozen=True, slots=True)
class FileCondition:
    """A file of each of the nodes has a text in it, or lacks one. A file that is not there lacks
    everything.
    """

    file: str
    node: Nodes
    has: str | None = None
    lacks: str | None = None

    def wrong(self, context: ReadingContext) -> Iterator[tuple[str, str]]:
        """A file that nobody can change, and texts that say nothing."""
        try:
            check_path(self.file)
        except ValueError as error:
            yield "file", str(error).removeprefix("path: ")
        if self.has is None and self.lacks is None:
            yield "file", "say what it 'has' or 'lacks'."
        for name, text in (("has", self.has), ("lacks", self.lacks)):
            if text == "":
                yield name, "it is empty: every file has that."

    def broken(self, world: World) -> str:
        """What is not so, on the first node."""
        for name in self.node.resolve(Inventory.of(world)):
            text = text_of(world, world.nodes[name], self.file)
            if self.has is not None and (text is None or self.has not in text):
                gone = "there is no" if text is None else f"'{self.has}' is not in"
                return f"{name}: {gone} {self.file}"
            if self.lacks is not None and text is not None and self.lacks in text:
                return f"{name}: '{self.lacks}' is in {self.file}"
        return ""
