"""What may vary between runs of a scenario: ``vary: {burst.xid.gpu: any, burst.xid.times: 1..40}``.

A key names an entry of the timeline by its id, then its fault's argument (with the verb before it,
or without), or ``at``. Its value is ``any`` (of what there is), a range, or a list. A seed draws
one value for each, by name, so that another key changes no draw; a campaign shrinks what it drew.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from chaos.errors import Mistakes, Place, did_you_mean, quoted
from chaos.fault import (
    ArgumentError,
    Fault,
    check_selections,
    described,
    parse_fault,
    type_of,
)
from chaos.format.values import BadValueError, Count, Duration, convert, expected, plain_type, shown
from chaos.format.yaml_tree import Items, Table, Tree, Word, kind_of
from chaos.scenario import Entry, Heal, Scenario
from chaos.selection import Gpus, Inventory, JobId, Nodes

ANY = "any"
_AT = "at"
_STEPS = 1000
"""Into how many equal parts a range of what is no whole number is cut."""


@dataclass(frozen=True, slots=True)
class Variation:
    """One thing that varies: ``choices`` are its values in words, the tamest first."""

    entry: str
    argument: str
    choices: Sequence[str]

    @property
    def name(self) -> str:
        """It, as draws and reports call it."""
        return f"{self.entry}.{self.argument}"


class Range(Sequence[str]):
    """The values from one to another, in steps, in words."""

    def __init__(self, kind: type[Any], low: float, high: float) -> None:
        self._kind = kind
        self._low = low
        span = high - low
        whole = kind in (int, Count)
        self._step = 1.0 if whole else span / _STEPS
        self._count = (round(span) if whole or span == 0 else _STEPS) + 1

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(self._count))]
        if not -self._count <= index < self._count:
            raise IndexError(index)
        return _words(self._kind, self._low + self._step * (index % self._count))


def _number(value: Any) -> float:
    """The one number that a value of a measured type holds."""
    return float(value if isinstance(value, int) else getattr(value, value.__slots__[0]))


def _words(kind: type[Any], number: float) -> str:
    """A number as a value of the type is written."""
    if kind is int:
        return str(round(number))
    whole = kind.__annotations__[kind.__slots__[0]] in (int, "int")
    return str(kind(round(number) if whole else round(number, 3)))


def draw(scenario: Scenario, seed: int) -> dict[str, str]:
    """A value for everything that varies, by the name of each."""
    drawn = {}
    for one in scenario.vary:
        key = hashlib.sha256(f"{seed}/{one.name}".encode()).digest()
        drawn[one.name] = random.Random(key).choice(one.choices)
    return drawn


def varied(scenario: Scenario, drawn: Mapping[str, str]) -> Scenario:
    """The scenario with values drawn for its entries. Raises :class:`ArgumentError`."""
    entries = []
    for entry in scenario.timeline:
        mine = {
            one.argument: drawn[one.name]
            for one in scenario.vary
            if one.entry == entry.id and one.name in drawn
        }
        entries.append(_changed(entry, mine, scenario.inventory) if mine else entry)
    return replace(scenario, timeline=tuple(entries), drawn=dict(drawn))


def _changed(entry: Entry, words: dict[str, str], inventory: Inventory) -> Entry:
    if _AT in words:
        entry = replace(entry, at_us=convert(words.pop(_AT), Duration).us)
    if not words:
        return entry
    what: Any = entry.what
    return replace(entry, what=_rebuilt(what, words, inventory))


def _rebuilt(fault: Fault, words: Mapping[str, str], inventory: Inventory) -> Fault:
    again = parse_fault(type_of(fault).family, {**described(fault), **words})
    check_selections(again, inventory)
    return again


def read_vary(
    tree: Tree | None,
    entries: Sequence[Entry],
    inventory: Inventory | None,
    mistakes: Mistakes,
) -> tuple[Variation, ...]:
    """What varies; mistakes are noted."""
    if tree is None:
        return ()
    if not isinstance(tree, Table):
        mistakes.add(tree.place, f"vary: expected a mapping, not {kind_of(tree)}.")
        return ()
    reader = _Reader({one.id: one for one in entries if one.id}, inventory, mistakes)
    found = [reader.read(key, value) for key, value in tree.entries]
    return tuple(one for one in found if one is not None)


class _Reader:
    """Reads one key after the other."""

    def __init__(
        self, entries: Mapping[str, Entry], inventory: Inventory | None, mistakes: Mistakes
    ) -> None:
        self._entries = entries
        self._inventory = inventory
        self._mistakes = mistakes

    def read(self, key: Word, tree: Tree) -> Variation | None:
        """What a key and its value say."""
        entry = self._entry(key)
        if entry is None or entry.id is None:
            return None
        argument = self._argument(key, entry)
        if argument is None:
            return None
        name, kind = argument
        choices = self._choices(name, kind, tree)
        if not choices:
            return None
        variation = Variation(entry.id, name, choices)
        self._check(variation, entry, tree.place)
        return variation

    def _entry(self, key: Word) -> Entry | None:
        name = key.text.partition(".")[0]
        if name not in self._entries:
            hint = did_you_mean(name, self._entries, "Ids of the timeline")
            self._mistakes.add(key.place, f"vary: no entry has the id {quoted(name)}{hint}")
        return self._entries.get(name)

    def _argument(self, key: Word, entry: Entry) -> tuple[str, type[Any]] | None:
        """The argument that a key names, and its type."""
        _, _, rest = key.text.partition(".")
        if rest == _AT:
            return _AT, Duration
        types: dict[str, Any] = {}
        family = ""
        if not isinstance(entry.what, Heal):
            kind = type_of(entry.what)
            family = kind.family
            types = {one.name: one.type for one in kind.arguments}
        name = rest.removeprefix(f"{family}.")
        if name not in types:
            known = (_AT, *(f"{family}.{one}" for one in types))
            hint = did_you_mean(rest, known, "It has")
            self._mistakes.add(key.place, f"vary: entry '{entry.id}' has no {quoted(rest)}{hint}")
            return None
        return name, plain_type(types[name])

    def _choices(self, name: str, kind: type[Any], tree: Tree) -> Sequence[str]:
        if isinstance(tree, Items):
            return self._listed(name, kind, tree)
        if not isinstance(tree, Word) or not tree.text:
            self._mistakes.add(
                tree.place, f"{name}: expected any, a range or a list, not {kind_of(tree)}."
            )
            return ()
        if tree.text == ANY:
            return self._any(name, kind, tree)
        low, dots, high = tree.text.partition("..")
        if dots and kind not in (Gpus, Nodes):
            return self._range(name, kind, tree, low, high)
        if kind is Gpus and self._read(name, kind, tree) and self._inventory is not None:
            chosen = self._resolved(name, Gpus.parse(tree.text), tree)
            return [f"{node}/{index}" for node, index in chosen]
        if kind is Nodes and self._read(name, kind, tree) and self._inventory is not None:
            return list(self._resolved(name, Nodes.parse(tree.text), tree))
        if kind not in (Gpus, Nodes):
            self._mistakes.add(
                tree.place,
                f"{name}: {quoted(tree.text)} is no range, such as 1..40, and not 'any'.",
            )
        return ()

    def _resolved(self, name: str, selection: Gpus | Nodes, word: Word) -> Sequence[Any]:
        try:
            return selection.resolve(self._inventory) if self._inventory is not None else ()
        except ValueError as error:
            self._mistakes.add(word.place, f"{name}: {error}.")
            return ()

    def _listed(self, name: str, kind: type[Any], tree: Items) -> Sequence[str]:
        words = []
        for item in tree.items:
            if not isinstance(item, Word):
                self._mistakes.add(item.place, f"{name}: expected one value, not {kind_of(item)}.")
            elif self._read(name, kind, item):
                words.append(item.text)
        if not tree.items:
            self._mistakes.add(tree.place, f"{name}: the list is empty.")
        return words

    def _any(self, name: str, kind: type[Any], word: Word) -> Sequence[str]:
        inventory = self._inventory
        if inventory is None:
            return ()
        if kind is Gpus:
            return [
                f"{node}/{index}" for node in inventory.nodes for index in range(inventory.gpus)
            ]
        if kind is Nodes:
            return list(inventory.nodes)
        if kind is JobId:
            return list(inventory.jobs)
        if kind is bool:
            return ["false", "true"]
        if issubclass(kind, Enum):
            return [shown(member) for member in kind]
        self._mistakes.add(
            word.place, f"{name}: there is no 'any' of this: give a range or a list of values."
        )
        return ()

    def _range(self, name: str, kind: type[Any], word: Word, low: str, high: str) -> Sequence[str]:
        try:
            ends = [convert(end.strip(), kind) for end in (low, high)]
            first, last = (_number(end) for end in ends)
        except BadValueError:
            self._mistakes.add(
                word.place,
                f"{name}: {quoted(word.text)} is no range of values of which each is "
                f"{expected(kind)}.",
            )
            return ()
        except (TypeError, ValueError, AttributeError):
            self._mistakes.add(word.place, f"{name}: there are no ranges of this: give a list.")
            return ()
        if first > last:
            self._mistakes.add(word.place, f"{name}: the range {word.text} runs backwards.")
            return ()
        return Range(kind, first, last)

    def _read(self, name: str, kind: type[Any], word: Word) -> bool:
        try:
            convert(word.text, kind)
        except BadValueError as error:
            self._mistakes.add(word.place, f"{name}: {error}")
            return False
        return True

    def _check(self, variation: Variation, entry: Entry, place: Place) -> None:
        """The first and the last choice make a fault; those between are like them."""
        if variation.argument == _AT or self._inventory is None:
            return
        what: Any = entry.what
        for word in (variation.choices[0], variation.choices[-1]):
            try:
                _rebuilt(what, {variation.argument: word}, self._inventory)
            except ArgumentError as error:
                self._mistakes.add(place, f"{variation.argument}: with {quoted(word)}: {error}")
                return
