"""What an expectation is, and how those there are get found.

An expectation is a small class in a file of its own under ``chaos/expectations/``. Its head is the
word that names it, and a field of the same name::

    @expectation("log")
    @dataclass(frozen=True, slots=True)
    class LogExpected:
        '''A line is printed.'''

        log: Pattern
        node: Nodes | None = None

        def judge(self, timing: Timing, inventory: Inventory) -> Judge: ...

Its other fields are its keys. ``from``, ``within`` and ``hold`` are the same for all, and stand in
:class:`Timing`. It is judged by the journal alone.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Protocol, TypeVar, get_type_hints

from chaos.errors import Mistakes, Place, ScenarioError, did_you_mean, quoted
from chaos.format.fields import Fields, read_value
from chaos.format.values import Duration, plain_type
from chaos.format.yaml_tree import Table, Tree, Word, kind_of
from chaos.journal import Record
from chaos.selection import Gpus, Inventory, JobId, Nodes, SelectionError

NEVER_US = (1 << 63) - 1

_TIMING = ("within", "from", "hold")
"""The keys that expectations have in common; each class says which of them mean something to it."""

_WHY = {
    "hold": ": only a state can hold.",
    "within": ": it counts to the end.",
    "from": ": it counts from the beginning.",
}


@dataclass(frozen=True, slots=True)
class Timing:
    """From when on, until when, and for how long: microseconds on the run's clock.

    ``deadline_us`` is None where none is given: then the end of the run is.
    """

    from_us: int = 0
    deadline_us: int | None = None
    hold_us: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an expectation came out. ``measured_us`` counts from ``Timing.from_us``, None where
    nothing came to be measured; ``why`` is a clause for people; ``lines`` are those of the journal
    that decided it.
    """

    ok: bool
    measured_us: int | None
    why: str
    lines: tuple[int, ...] = ()


class Judge(Protocol):
    """Reads the journal with one expectation in mind.

    ``waits`` says whether it is worth waiting for: that something never happens is known at the end
    alone, whenever that is.
    """

    waits: bool

    def see(self, record: Record) -> None:
        """The next line of the journal, in order."""
        ...

    def outcome(self, now_us: int) -> Outcome | None:
        """What is decided by now; None while it is open. Once decided it stays so."""
        ...

    def at_end(self, end_us: int) -> Outcome:
        """The outcome, now that nothing more will come."""
        ...


class Expected(Protocol):
    """A frozen dataclass whose fields are an expectation's keys.

    A class variable ``timing`` says which of ``within``, ``from`` and ``hold`` it takes.
    """

    timing: ClassVar[tuple[str, ...]]

    def judge(self, timing: Timing, inventory: Inventory) -> Judge:
        """One who will judge it."""
        ...


@dataclass(frozen=True, slots=True)
class Written:
    """An expectation as it is written. ``position`` counts from 1 and is its identity (0: nobody
    wrote it, it goes without saying); ``text`` is it in one line.
    """

    position: int
    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Expectation(Written):
    """An expectation of a scenario: what is expected, when, and where it is written.

    ``within_us`` is the deadline after the moment ``since`` names: an entry's id, None for the
    first entry.
    """

    expected: Expected
    within_us: int | None = None
    since: str | None = None
    hold_us: int = 0


@dataclass(frozen=True, slots=True)
class ReadingContext:
    """What a reader has to know: what can be selected, the timeline's ids (None where they could
    not all be read), where mistakes go.

    ``scheduler`` says whether jobs are placed by one, ``memory_bytes`` how much a GPU has.
    """

    inventory: Inventory | None
    ids: tuple[str, ...] | None
    mistakes: Mistakes
    scheduler: bool = True
    memory_bytes: int | None = None


NEEDS_SCHEDULER = "needs a scheduler: fleet: {scheduler: slurm}."
"""What is wrong with all that needs one, where the fleet has none: one mistake."""


class Checked(Protocol):
    """What is read from a mapping, and can say what of it cannot be meant."""

    def wrong(self, context: ReadingContext) -> Iterator[tuple[str, str]]:
        """Keys, each with a clause on what is wrong with its value."""
        ...


class FromTree(Protocol):
    """A type of field that is read from a mapping, and not from one word."""

    @classmethod
    def read(cls, tree: Tree, name: str, context: ReadingContext) -> Any:
        """The value; a mistake is a :class:`ScenarioError`, or noted and None."""
        ...


@dataclass(frozen=True, slots=True)
class ExpectationType:
    """A class of expectations: its head, and the types of its fields."""

    head: str
    cls: type[Any]
    types: Mapping[str, Any]
    required: frozenset[str]

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return (self.cls.__doc__ or "").strip().splitlines()[0]


_found: dict[str, ExpectationType] = {}
_E = TypeVar("_E", bound=type[Any])


def expectation(head: str) -> Callable[[_E], _E]:
    """Make a dataclass the expectation ``head``."""

    def register(cls: _E) -> _E:
        hints = get_type_hints(cls)
        names = [field.name for field in dataclasses.fields(cls)]
        if head not in names:
            raise TypeError(f"{cls.__name__} has no field {head!r} for its head")
        required = frozenset(
            field.name for field in dataclasses.fields(cls) if field.default is dataclasses.MISSING
        )
        _found[head] = ExpectationType(head, cls, {name: hints[name] for name in names}, required)
        return cls

    return register


@cache
def expectation_types() -> Mapping[str, ExpectationType]:
    """Every expectation there is, by its head; found by looking into ``chaos/expectations/``."""
    import chaos.expectations

    for module in pkgutil.iter_modules(chaos.expectations.__path__):
        importlib.import_module(f"chaos.expectations.{module.name}")
    return dict(sorted(_found.items()))


def read_expectation(position: int, tree: Tree, context: ReadingContext) -> Expectation | None:
    """One item of ``expect``; None where mistakes were noted."""
    if not isinstance(tree, Table):
        raise ScenarioError(tree.place, f"an expectation is a mapping, not {kind_of(tree)}.")
    before = len(context.mistakes)
    kind = _kind_of(tree)
    timing = kind.cls.timing
    for key, _ in tree.entries:
        if key.text in _TIMING and key.text not in timing:
            problem = f"'{key.text}' means nothing to '{kind.head}'{_WHY[key.text]}"
            context.mistakes.add(key.place, problem)
    fields = Fields(tree, (*map(_key_of, kind.types), *_TIMING), f"'{kind.head}'", context.mistakes)
    expected = read_fields(kind.cls, kind.types, kind.required, fields, context)
    within = fields.value("within", Duration, None)
    hold = fields.value("hold", Duration, Duration(0))
    since = fields.word("from")
    if since is not None and context.ids is not None and since.text not in context.ids:
        hint = did_you_mean(since.text, context.ids, "Ids of the timeline")
        problem = f"from: no entry has the id {quoted(since.text)}{hint}"
        context.mistakes.add(since.place, problem, same=f"id {since.text}")
    if len(context.mistakes) > before or expected is None:
        return None
    return Expectation(
        position,
        tree.place,
        as_text(tree),
        expected,
        within.us if within else None,
        since.text if since else None,
        hold.us,
    )


def read_fields(
    cls: type[Any],
    types: Mapping[str, Any],
    required: frozenset[str],
    fields: Fields,
    context: ReadingContext,
) -> Any:
    """A dataclass of a mapping's values; None where mistakes were noted."""
    before = len(context.mistakes)
    is_whole = all(_key_of(name) in fields.table for name in required)
    values: dict[str, Any] = {}
    for name, annotation in types.items():
        tree = fields.get(_key_of(name))
        if tree is None:
            if name in required:
                fields.note_missing(_key_of(name))
            continue
        with context.mistakes.noting():
            values[name] = _read(plain_type(annotation), tree, _key_of(name), context, fields)
    if len(context.mistakes) > before or not is_whole:
        return None
    found = cls(**values)
    for name, problem in found.wrong(context) if hasattr(found, "wrong") else ():
        word = fields.get(_key_of(name))
        place = fields.table.place if word is None else word.place
        same = NEEDS_SCHEDULER if problem.endswith(NEEDS_SCHEDULER) else ""
        context.mistakes.add(place, f"{_key_of(name)}: {problem}", same=same)
    return found if len(context.mistakes) == before else None


def _read(kind: type[Any], tree: Tree, name: str, context: ReadingContext, fields: Fields) -> Any:
    if hasattr(kind, "read"):
        return kind.read(tree, name, context)
    value = read_value(fields.word(name), name, kind, context.mistakes)
    if isinstance(value, Gpus | Nodes | JobId) and context.inventory is not None:
        try:
            value.resolve(context.inventory)
        except SelectionError as error:
            context.mistakes.add(tree.place, f"{name}: {error}.", same=str(error))
    return value


def _kind_of(tree: Table) -> ExpectationType:
    types = expectation_types()
    heads = [key for key, _ in tree.entries if key.text in types]
    if len(heads) == 1:
        return types[heads[0].text]
    if heads:
        raise ScenarioError(
            heads[1].place,
            f"'{heads[0].text}' and '{heads[1].text}' in one expectation: each is one of its own.",
        )
    first = tree.entries[0][0] if tree.entries else None
    if first is None:
        raise ScenarioError(tree.place, f"an expectation needs one of {', '.join(types)}.")
    hint = did_you_mean(first.text, types, "Known expectations")
    raise ScenarioError(first.place, f"unknown expectation {quoted(first.text)}{hint}")


def _key_of(name: str) -> str:
    """The key of a field: Python keeps some words for itself, as ``is`` and ``except``."""
    return name.removesuffix("_")


def as_text(tree: Tree) -> str:
    """A tree in one line, as a person would write it."""
    if isinstance(tree, Word):
        plain = tree.text and not set(tree.text) & set(",:{}[]\"'#\n")
        return tree.text if plain else '"' + tree.text.replace('"', '\\"') + '"'
    if isinstance(tree, Table):
        return "{" + ", ".join(f"{key.text}: {as_text(value)}" for key, value in tree.entries) + "}"
    return "[" + ", ".join(as_text(item) for item in tree.items) + "]"
