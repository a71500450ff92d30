"""Who has published a verdict on errors of GPUs, and how the verdicts compare.

Vendors differ about many codes. That is shown, never settled silently: a verdict keeps its vendor's
own word, and a gravity makes the words comparable.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from gputui.facts.table import Row, load
from gputui.model import Severity


@dataclass(frozen=True, slots=True)
class Vendor:
    """One who judges errors. ``column`` is where its words stand in the tables of codes."""

    column: str
    name: str
    meaning: str
    source: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one vendor makes of a code, in its own word.

    ``gravity`` is what the word amounts to; None where it does not say how bad it is.
    """

    vendor: str
    word: str
    meaning: str
    source: str
    gravity: Severity | None = None


@cache
def vendors() -> tuple[Vendor, ...]:
    """All of them, NVIDIA first."""

    def vendor(row: Row) -> Vendor:
        return Vendor(row.text("column"), row.text("name"), row.text("meaning"), row.text("source"))

    return tuple(load("vendors", ["column"], vendor).facts.values())


def verdicts(row: Row) -> tuple[Verdict, ...]:
    """What the vendors say in a row of a table of codes; those that say nothing are left out."""
    return tuple(
        Verdict(one.name, word, one.meaning, one.source, _gravity(one.column, word))
        for one in vendors()
        if (word := row.text(one.column))
    )


def differ(found: Iterable[Verdict]) -> bool:
    """Whether some call grave what others call harmless, or the application's affair."""
    gravities = {one.gravity for one in found if one.gravity is not None}
    return Severity.CRITICAL in gravities and len(gravities) > 1


_GRAVITIES = {
    "IGNORE": Severity.INFO,
    "RESTART_APP": Severity.WARNING,
    "CHECK_UVM": Severity.WARNING,
    "UPDATE_SWFW": Severity.WARNING,
    "CONTACT_SUPPORT": Severity.WARNING,
    "CHECK_MECHANICALS": Severity.CRITICAL,
    "RESET_GPU": Severity.CRITICAL,
    "RESET_FABRIC": Severity.CRITICAL,
    "RUN_FIELDDIAG": Severity.CRITICAL,
    "RESTART_BM": Severity.CRITICAL,
    "RESTART_VM": Severity.CRITICAL,
    "WORKFLOW_XID_48": Severity.CRITICAL,
    "Info": Severity.INFO,
    "Warning": Severity.WARNING,
    "Fatal": Severity.CRITICAL,
    "NONFATAL": Severity.WARNING,
    "FATAL": Severity.CRITICAL,
    "no": Severity.WARNING,
    "always": Severity.CRITICAL,
    "ignored (app error)": Severity.WARNING,
    "unhealthy": Severity.CRITICAL,
    "WARN": Severity.WARNING,
    "FAIL": Severity.CRITICAL,
    "warning event": Severity.WARNING,
    "fatal (node condition)": Severity.CRITICAL,
    "fail (2 h window)": Severity.CRITICAL,
}
"""The vendors' words. Workflows that decide by more than the code are not among them."""

_NO_GRAVITY = frozenset({"gpud_repair", "nvidia_investigation", "nvsentinel_action"})
"""Columns that say what to do, where another one of the same vendor says how bad it is."""


def _gravity(column: str, word: str) -> Severity | None:
    if column in _NO_GRAVITY:
        return None
    return _GRAVITIES.get(word) or _GRAVITIES.get(word.partition("(")[0])
