"""YAML as a tree in which every key and every word knows its place.

Words stay text: whoever reads one knows what it should be, so nothing becomes a date, an octal
number or Norway's ``no`` on the way. Directives, tags, anchors, aliases, merges and duplicate keys
are refused: a scenario must read the same to a person and to every YAML library.
"""

from __future__ import annotations

import re
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
from ruamel.yaml.scanner import ScannerError
from ruamel.yaml.tokens import ScalarToken

from chaos.errors import Mistakes, Place, ScenarioError, UsageError, quoted, shortened

_MAX_DEPTH = 32
_MAX_BYTES = 1 << 20
MAX_ITEMS = 5_000
_MAX_KEYS = 1_000
_MAX_TREES = 200_000
"""In a whole file: so much takes the parser seconds."""
_LOOKS_LIKE_KEYS = re.compile(r"[{}\[\]]|\w: ")
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
        return quoted(tree.text) if tree.text else "nothing"
    if isinstance(tree, Items):
        return "a list"
    return "a mapping" if tree.entries else "an empty mapping"


def _is_cut_number(key: Word, value: Any) -> bool:
    """Whether a key is what stood behind the comma of a number, ``000`` of ``1,000``."""
    is_empty = isinstance(value, ScalarEvent) and not value.style and not value.value
    return is_empty and re.match(r"[0-9]{3}(?![0-9])", key.text) is not None


def _quote_left_open(text: str, line: int) -> Any | None:
    """Where the first quoted text begins that goes over the end of its line and takes keys in, up
    to the line (from 0) on which the file ceased to be YAML. None: no quote is to blame.
    """
    scanner = YAML(typ="safe", pure=True).scan(text)
    try:
        for token in scanner:
            if token.start_mark.line > line:
                break
            if isinstance(token, ScalarToken) and token.style in ('"', "'"):
                over = token.end_mark.line > token.start_mark.line
                if over and _LOOKS_LIKE_KEYS.search(token.value):
                    return token.start_mark
    except ScannerError as error:
        if error.context == "while scanning a quoted scalar":
            return error.context_mark
    except YAMLError:
        return None
    return None


def read_tree(path: Path, mistakes: Mistakes) -> Tree:
    """Read a file. A duplicate key is among ``mistakes``, and the first of it holds; a mistake
    that leaves no tree is a :class:`ScenarioError` at its place.
    """
    name = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror}.") from error
    if len(raw) > _MAX_BYTES:
        raise ScenarioError(
            Place(name, 1, 1),
            f"more than {_MAX_BYTES >> 20} MiB: that is no scenario written by hand.",
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        raise ScenarioError(Place(name, line, column), "not YAML: not UTF-8 text.") from error
    return _Builder(name, mistakes).build(text)


class _Builder:
    """Turns the parser's events into a tree."""

    def __init__(self, file: str, mistakes: Mistakes) -> None:
        self._file = file
        self._mistakes = mistakes
        self._trees = 0
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
            problem = shortened(str(error.problem), 200)
            opened = _quote_left_open(text, mark.line)
            if opened is not None:
                place = Place(self._file, opened.line + 1, opened.column + 1)
                problem = "the quote that opens here is not closed on its line"
            elif "'\\t'" in problem:
                problem = "a tab: indent with spaces"
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
        self._trees += 1
        if self._trees > _MAX_TREES:
            raise self._error(event, f"more than {_MAX_TREES} values.")
        if isinstance(event, ScalarEvent):
            return Word(str(event.value), self._place(event))
        if isinstance(event, SequenceStartEvent):
            return self._items(event, depth)
        if isinstance(event, MappingStartEvent):
            return self._table(event, depth)
        raise self._error(event, "not YAML.")

    def _items(self, start: Any, depth: int) -> Items:
        items: list[Tree] = []
        for event in self._events:
            if isinstance(event, SequenceEndEvent):
                break
            if len(items) == MAX_ITEMS:
                # Here, and not when the file has been read: that takes seconds.
                raise self._error(
                    event, f"more than {MAX_ITEMS} entries: a burst is one entry with 'times:'."
                )
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
            if len(entries) == _MAX_KEYS:
                raise self._error(event, f"more than {_MAX_KEYS} keys in one mapping.")
            following = next(self._events)
            if start.flow_style and _is_cut_number(key, following):
                raise self._error(
                    event, f"a comma ends the value before {quoted(key.text)}: leave it out."
                )
            value = self._tree(following, depth + 1)
            if key.text in entries:
                first = entries[key.text][0].place.line
                self._mistakes.add(
                    key.place,
                    f"duplicate key {quoted(key.text)}: it is also on line {first}.",
                )
            entries.setdefault(key.text, (key, value))
        return Table(tuple(entries.values()), self._place(start))
