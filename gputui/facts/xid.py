"""What is known of each Xid (``xid.csv``); read when the first one comes."""

from __future__ import annotations

from dataclasses import dataclass

from gputui.facts.codes import Catalogue, CodeFact, columns_of
from gputui.facts.table import Row, Table
from gputui.model import Action, Severity


@dataclass(frozen=True, slots=True)
class XidFact(CodeFact):
    """One code, by NVIDIA's name. ``at_fault`` says in a few words where the fault may lie."""

    at_fault: str = ""


def _fact(row: Row) -> XidFact:
    return XidFact(**columns_of(row, "no meaning is given"), at_fault=row.text("at_fault"))


def _unknown(code: int) -> XidFact:
    return XidFact(
        code,
        name="",
        meaning="not in NVIDIA's catalogue",
        cause="unknown",
        severity=Severity.WARNING,
        action=Action.CONTACT_SUPPORT,
        known=False,
    )


CATALOGUE = Catalogue("xid", _fact, _unknown)


def xid_table() -> Table[XidFact]:
    """All codes that are known, the site's own included."""
    return CATALOGUE.table


def xid_fact(code: int) -> XidFact:
    """What is known of a code. An unknown one is shown raw, and never guessed at."""
    return CATALOGUE.fact(code)
