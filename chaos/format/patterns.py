"""What people write to mean a text: letters, and ``*`` for any of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from chaos.errors import ScenarioError, quoted
from chaos.format.yaml_tree import Tree, Word, kind_of


@dataclass(frozen=True)
class Pattern:
    """A text in which ``*`` stands for anything, also nothing. Case does not matter."""

    text: str

    @classmethod
    def read(cls, tree: Tree, name: str, context: object) -> Pattern:
        """The pattern under a key."""
        if not isinstance(tree, Word) or not tree.text:
            raise ScenarioError(tree.place, f"{name}: expected a text, not {kind_of(tree)}.")
        return cls(tree.text)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        parts = (re.escape(part) for part in self.text.split("*"))
        return re.compile(".*".join(parts), re.I | re.S)

    def matches(self, text: str) -> bool:
        """Whether it means the whole of a text."""
        return self._compiled.fullmatch(text) is not None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class CallPattern(Pattern):
    """A pattern for calls: a program's base name and its arguments, with one space between."""

    @classmethod
    def read(cls, tree: Tree, name: str, context: object) -> CallPattern:
        """The pattern under a key; one that no call can match is a mistake."""
        text = Pattern.read(tree, name, context).text
        program = text.split(" ")[0]
        if "/" in program and "*" not in program:
            base = program.rpartition("/")[2]
            raise ScenarioError(
                tree.place,
                f"{name}: {quoted(program)} never matches, as calls have the program's base name: "
                f"write {quoted(base + text[len(program) :])}.",
            )
        if text != text.strip():
            raise ScenarioError(
                tree.place, f"{name}: {quoted(text)} has a space at its end, which no call has."
            )
        return cls(text)
