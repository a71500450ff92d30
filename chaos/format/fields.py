"""Mappings of which every key is known, and the typed values under them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chaos.errors import Mistakes, ScenarioError, did_you_mean, nearest, quoted
from chaos.format.values import BadValueError, convert
from chaos.format.yaml_tree import Items, Table, Tree, Word, kind_of


class Fields:
    """A mapping of which every key is known, and how to read its values.

    Unknown keys, values that do not read and keys that are missing are noted as ``mistakes``; what
    is no mapping at all is a :class:`ScenarioError`. ``misspelt`` are known keys that an unknown
    one may stand for: that they are missing is no other mistake.
    """

    def __init__(self, tree: Tree, names: Sequence[str], what: str, mistakes: Mistakes) -> None:
        if not isinstance(tree, Table):
            raise ScenarioError(
                tree.place, f"{what} is a mapping of {', '.join(names)}, not {kind_of(tree)}."
            )
        _note_unknown(tree, names, what, mistakes)
        self.misspelt = frozenset(
            nearest(key.text, names) for key, _ in tree.entries if key.text not in names
        )
        self.table = tree
        self.what = what
        self.mistakes = mistakes

    def get(self, name: str) -> Tree | None:
        """The tree under a key, if the key is there."""
        return self.table.get(name)

    def word(self, name: str) -> Word | None:
        """The word under a key, if the key is there and has one."""
        tree = self.table.get(name)
        if tree is None or (isinstance(tree, Word) and tree.text):
            return tree
        self.mistakes.add(tree.place, f"{name}: expected one value, not {kind_of(tree)}.")
        return None

    def need(self, name: str) -> Word | None:
        """The word under a key that must be there; None: that it is not has been noted."""
        self.note_missing(name)
        return self.word(name)

    def note_missing(self, name: str) -> None:
        """Note that a key is not there, if it is not, nor another one in its stead."""
        if name not in self.table and name not in self.misspelt:
            self.mistakes.add(self.table.place, f"{self.what} needs the key '{name}'.")

    def value(self, name: str, kind: type, default: Any) -> Any:
        """The word under a key as a value of a type; the default if there is none, or a bad one."""
        return read_value(self.word(name), name, kind, self.mistakes, default)


def check_keys(tree: Table, names: Sequence[str], what: str, mistakes: Mistakes) -> None:
    """Refuse a mapping with unknown keys: the one that tells what it is may be misspelt."""
    before = len(mistakes)
    _note_unknown(tree, names, what, mistakes)
    if len(mistakes) > before:
        raise mistakes.pop()


def _note_unknown(tree: Table, names: Sequence[str], what: str, mistakes: Mistakes) -> None:
    for key, _ in tree.entries:
        if key.text not in names:
            hint = did_you_mean(key.text, names)
            mistakes.add(key.place, f"unknown key {quoted(key.text)} in {what}{hint}")


def read_value(
    word: Word | None, name: str, kind: type, mistakes: Mistakes, default: Any = None
) -> Any:
    """A word as a value of a type; the default without one, or if it is bad, which is noted."""
    if word is None:
        return default
    try:
        return convert(word.text, kind)
    except BadValueError as error:
        mistakes.add(word.place, f"{name}: {error}")
        return default


def items_of(tree: Tree | None, name: str, mistakes: Mistakes) -> tuple[Tree, ...]:
    """The items of a list, which may be left out."""
    if tree is None:
        return ()
    if not isinstance(tree, Items):
        mistakes.add(tree.place, f"{name}: expected a list, not {kind_of(tree)}.")
        return ()
    return tree.items
