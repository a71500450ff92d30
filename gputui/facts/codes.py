"""What catalogues of error codes have in common: Xids, and an NVSwitch's SXids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypedDict, TypeVar

from gputui.facts.table import Row, Table, load
from gputui.facts.vendors import Verdict, differ, verdicts
from gputui.model import Action, Severity

SEVERITIES = {severity.word: severity for severity in Severity}
ACTIONS = {action.value: action for action in Action}


@dataclass(frozen=True, slots=True)
class CodeFact:
    """One code: its name, what it means, whom it blames, and what it asks for.

    ``verdicts`` are what the vendors make of it; ``known`` is False for a code that no catalogue
    has.
    """

    code: int
    name: str
    meaning: str
    cause: str
    severity: Severity
    action: Action
    verdicts: tuple[Verdict, ...] = ()
    source: str = ""
    known: bool = True

    @property
    def disputed(self) -> bool:
        """Whether the vendors differ about how bad it is."""
        return differ(self.verdicts)


class CodeColumns(TypedDict):
    """The columns that every catalogue has, as :class:`CodeFact` takes them."""

    code: int
    name: str
    meaning: str
    cause: str
    severity: Severity
    action: Action
    verdicts: tuple[Verdict, ...]
    source: str


def columns_of(row: Row, meaning: str) -> CodeColumns:
    """Those of a row; ``meaning`` is what is said of a code whose meaning is not given."""
    return CodeColumns(
        code=row.integer("code"),
        name=row.text("name"),
        meaning=row.text("meaning") or meaning,
        cause=row.text("cause") or "unknown",
        severity=row.one_of("severity", SEVERITIES),
        action=row.one_of("action", ACTIONS),
        verdicts=verdicts(row),
        source=row.text("source"),
    )


_Fact = TypeVar("_Fact", bound=CodeFact)


class Catalogue(Generic[_Fact]):
    """A table of codes, read when the first one is asked for; the site's own rows included.

    ``unknown`` makes what is told of a code that nobody has: its number, and never a guess.
    """

    def __init__(
        self, name: str, read: Callable[[Row], _Fact], unknown: Callable[[int], _Fact]
    ) -> None:
        self._name = name
        self._read = read
        self._unknown = unknown

    @cached_property
    def table(self) -> Table[_Fact]:
        """All rows."""
        return load(self._name, ["code"], self._read)

    @cached_property
    def by_code(self) -> dict[int, _Fact]:
        """All codes that are known."""
        return {fact.code: fact for fact in self.table.facts.values()}

    def fact(self, code: int) -> _Fact:
        """What is known of a code."""
        known = self.by_code.get(code)
        return self._unknown(code) if known is None else known
