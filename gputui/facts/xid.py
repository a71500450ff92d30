"""What is known of each Xid (``xid.csv``); read when the first one comes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from gputui.facts.table import Row, Table, load
from gputui.facts.vendors import Verdict, differ, verdicts
from gputui.model import Action, Severity

SEVERITIES = {severity.word: severity for severity in Severity}
ACTIONS = {action.value: action for action in Action}


@dataclass(frozen=True, slots=True)
class XidFact:
    """One code: NVIDIA's name for it, what it means, whom it blames, and what it asks for.

    ``at_fault`` says in a few words where the fault may lie; ``verdicts`` are what the vendors make
    of it; ``known`` is False for a code that no catalogue has.
    """

    code: int
    name: str
    meaning: str
    cause: str
    severity: Severity
    action: Action
    at_fault: str = ""
    verdicts: tuple[Verdict, ...] = ()
    source: str = ""
    known: bool = True

    @property
    def disputed(self) -> bool:
        """Whether the vendors differ about how bad it is."""
        return differ(self.verdicts)


def _fact(row: Row) -> XidFact:
    return XidFact(
        code=row.integer("code"),
        name=row.text("name"),
        meaning=row.text("meaning") or "no meaning is given",
        cause=row.text("cause") or "unknown",
        severity=row.one_of("severity", SEVERITIES),
        action=row.one_of("action", ACTIONS),
        at_fault=row.text("at_fault"),
        verdicts=verdicts(row),
        source=row.text("source"),
    )


@cache
def xid_table() -> Table[XidFact]:
    """All codes that are known, the site's own included."""
    return load("xid", ["code"], _fact)


@cache
def _by_code() -> dict[int, XidFact]:
    return {fact.code: fact for fact in xid_table().facts.values()}


def xid_fact(code: int) -> XidFact:
    """What is known of a code. An unknown one is shown raw, and never guessed at."""
    known = _by_code().get(code)
    if known is not None:
        return known
    return XidFact(
        code,
        "",
        "not in NVIDIA's catalogue",
        "unknown",
        Severity.WARNING,
        Action.CONTACT_SUPPORT,
        known=False,
    )
