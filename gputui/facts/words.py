"""Words that people meet and ask about: kinds of incidents, reasons of clocks, states, actions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from gputui.facts.codes import ACTIONS
from gputui.facts.table import Row, Table, load
from gputui.model import Action


@dataclass(frozen=True, slots=True)
class WordFact:
    """A word, what it is (``clock reason``, ``state`` ...) and how else it is written."""

    word: str
    group: str
    also: tuple[str, ...]
    meaning: str
    action: Action
    source: str


@dataclass(frozen=True, slots=True)
class KindFact:
    """A kind of incident, and the closed list of its causes."""

    kind: str
    meaning: str
    causes: tuple[str, ...]
    action: Action
    source: str


def _items(row: Row, column: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in row.text(column).split(",") if item.strip())


def _word(row: Row) -> WordFact:
    return WordFact(
        word=row.text("word"),
        group=row.text("group"),
        also=_items(row, "also"),
        meaning=row.text("meaning"),
        action=row.one_of("action", ACTIONS),
        source=row.text("source"),
    )


def _kind(row: Row) -> KindFact:
    return KindFact(
        kind=row.text("kind"),
        meaning=row.text("meaning"),
        causes=_items(row, "causes"),
        action=row.one_of("action", ACTIONS),
        source=row.text("source"),
    )


@cache
def word_table() -> Table[WordFact]:
    """All words, the site's own included."""
    return load("words", ["word"], _word)


@cache
def kind_table() -> Table[KindFact]:
    """All kinds of incidents."""
    return load("kinds", ["kind"], _kind)
