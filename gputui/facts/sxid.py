"""What is known of each SXid, an NVSwitch's error (``sxid.csv``); read when the first one comes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from gputui.facts.table import Row, Table, load
from gputui.facts.vendors import Verdict, differ, verdicts
from gputui.facts.xid import ACTIONS, SEVERITIES
from gputui.model import Action, Severity


@dataclass(frozen=True, slots=True)
class SxidFact:
    """One code: the driver's name for it, what it means, whom it blames, and what it asks for.

    The driver's word in the line (Fatal, Non-fatal, Correctable) outranks ``severity``.
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


def _fact(row: Row) -> SxidFact:
    return SxidFact(
        code=row.integer("code"),
        name=row.text("name"),
        meaning=row.text("meaning") or _in_words(row.text("name")),
        cause=row.text("cause") or "unknown",
        severity=row.one_of("severity", SEVERITIES),
        action=row.one_of("action", ACTIONS),
        verdicts=verdicts(row),
        source=row.text("source"),
    )


def _in_words(name: str) -> str:
    """The driver's name of an error, legible: all that is said of those that no guide explains."""
    return name.removeprefix("NVSWITCH_ERR_HW_").replace("_", " ").lower()


@cache
def sxid_table() -> Table[SxidFact]:
    """All codes that are known, the site's own included."""
    return load("sxid", ["code"], _fact)


@cache
def _by_code() -> dict[int, SxidFact]:
    return {fact.code: fact for fact in sxid_table().facts.values()}


def sxid_fact(code: int) -> SxidFact:
    """What is known of a code. An unknown one is shown raw, and never guessed at."""
    known = _by_code().get(code)
    if known is not None:
        return known
    return SxidFact(
        code,
        "",
        "not in the driver's table",
        "unknown",
        Severity.WARNING,
        Action.CONTACT_SUPPORT,
        known=False,
    )
