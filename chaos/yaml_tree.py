"""YAML as a tree in which every key and every word knows its place.

Words stay text: whoever reads one knows what it should be, so nothing becomes a date, an octal
number or Norway's ``no`` on the way. Directives, tags, anchors, aliases, merges and duplicate keys
are refused: a scenario must read the same to a person and to every YAML library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from chaos.errors import Place, ScenarioError, UsageError

_MAX_DEPTH = 32
_MAX_BYTES = 4 << 20
_QUOTE_HINT = 'quote a selector that begins with a star: "*/3".'


@dataclass(frozen=True, slots=True)
class Word:
    """A scalar, as it was written."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Items:
    """A sequence."""

    items: tuple[Tree, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping, in the order of the file."""

    entries: tuple[tuple[Word, Tree], ...]
    place: Place

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def get(self, name: str) -> Tree | None:
        """The value under a key."""
        return next((value for key, value in self.entries if key.text == name), None)

    def key(self, name: str) -> Word | None:
        """The key itself, for its place."""
        return next((key for key, _ in self.entries if key.text == name), None)


Tree = Word | Items | Table


def kind_of(tree: Tree) -> str:
    """What a tree is, in a user's words."""
    if isinstance(tree, Word):
        return f"'{tree.text}'" if tree.text else "nothing"
    return "a list" if isinstance(tree, Items) else "a mapping"


def read_tree(path: Path) -> Tree:
    """Read a file. Every mistake in it is a :class:`ScenarioError` at its place."""
    name = str(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}.") from error
    if len(raw) > _MAX_BYTES:
        raise ScenarioError(
            Place(name, 1, 1),
            f"{len(raw)} bytes is no scenario written by hand (at most {_MAX_BYTES}).",
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        raise ScenarioError(Place(name, line, column), "not YAML: not UTF-8 text.") from error
    return _Builder(name).build(text)


class _Builder:
    """Turns the parser's events into a tree."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._events: Iterator[Any] = iter(())

    def build(self, text: str) -> Tree:
        self._events = self._parsed(text)
        trees: list[Tree] = []
        for event in self._events:
            if isinstance(event, DocumentStartEvent):
                if trees:
                    raise self._error(event, "a second document: one file is one scenario.")
                if event.version or event.tags:
                    raise ScenarioError(
                        Place(self._file, 1, 1), "YAML directives (%) are not allowed."
                    )
            elif not isinstance(event, StreamStartEvent | StreamEndEvent | DocumentEndEvent):
                trees.append(self._tree(event, 0))
        if not trees:
            raise ScenarioError(Place(self._file, 1, 1), "the file is empty.")
        return trees[0]

    def _parsed(self, text: str) -> Iterator[Any]:
        """The parser's events; what it refuses becomes our error."""
        try:
            yield from YAML(typ="safe", pure=True).parse(text)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            hint = (
                f" If it is meant as a word, {_QUOTE_HINT}"
                if "alias" in (error.context or "")
                else ""
            )
            place = Place(self._file, mark.line + 1, mark.column + 1)
            problem = str(error.problem).replace("\t", "\\t")
            raise ScenarioError(place, f"not YAML: {problem}.{hint}") from error
        except YAMLError as error:
            position = getattr(error, "position", 0) or 0
            line = text.count("\n", 0, position) + 1
            column = position - text.rfind("\n", 0, position)
            place = Place(self._file, line, column)
            raise ScenarioError(place, "not YAML: a character that text has not.") from error

    def _error(self, event: Any, problem: str) -> ScenarioError:
        return ScenarioError(self._place(event), problem)

    def _place(self, event: Any) -> Place:
        return Place(self._file, event.start_mark.line + 1, event.start_mark.column + 1)

    def _tree(self, event: Any, depth: int) -> Tree:
        if isinstance(event, AliasEvent):
            raise self._error(event, f"aliases (*) are not allowed; {_QUOTE_HINT}")
        if event.anchor:
            raise self._error(event, "anchors (&) are not allowed: write it out.")
        if event.tag:
            raise self._error(event, "tags (!) are not allowed.")
        if depth > _MAX_DEPTH:
            raise self._error(event, f"nested more than {_MAX_DEPTH} deep.")
        if isinstance(event, ScalarEvent):
            return Word(str(event.value), self._place(event))
        if isinstance(event, SequenceStartEvent):
            return self._items(event, depth)
        if isinstance(event, MappingStartEvent):
            return self._table(event, depth)
        raise self._error(event, "not YAML.")

    def _items(self, start: Any, depth: int) -> Items:
        items = []
        for event in self._events:
            if isinstance(event, SequenceEndEvent):
                break
            items.append(self._tree(event, depth + 1))
        return Items(tuple(items), self._place(start))

    def _table(self, start: Any, depth: int) -> Table:
        entries: dict[str, tuple[Word, Tree]] = {}
        for event in self._events:
            if isinstance(event, MappingEndEvent):
                break
            key = self._tree(event, depth + 1)
            if not isinstance(key, Word):
                raise self._error(event, "a key must be one word.")
            if key.text == "<<":
                raise self._error(event, "merges (<<) are not allowed: write it out.")
            if key.text in entries:
                first = entries[key.text][0].place.line
                raise self._error(event, f"duplicate key '{key.text}': it is also on line {first}.")
            entries[key.text] = key, self._tree(next(self._events), depth + 1)
        return Table(tuple(entries.values()), self._place(start))
