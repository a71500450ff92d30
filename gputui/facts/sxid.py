"""What is known of each SXid, an NVSwitch's error (``sxid.csv``); read when the first one comes."""

from __future__ import annotations

from dataclasses import dataclass

from gputui.facts.codes import Catalogue, CodeFact, columns_of
from gputui.facts.table import Row, Table
from gputui.model import Action, Severity


@dataclass(frozen=True, slots=True)
class SxidFact(CodeFact):
    """One code, by the driver's name for it.

    The driver's word in the line (Fatal, Non-fatal, Correctable) outranks ``severity``.
    """


def _fact(row: Row) -> SxidFact:
    return SxidFact(**columns_of(row, _in_words(row.text("name"))))


def _in_words(name: str) -> str:
    """The driver's name of an error, legible: all that is said of those that no guide explains."""
    return name.removeprefix("NVSWITCH_ERR_HW_").replace("_", " ").lower()


def _unknown(code: int) -> SxidFact:
    return SxidFact(
        code,
        name="",
        meaning="not in the driver's table",
        cause="unknown",
        severity=Severity.WARNING,
        action=Action.CONTACT_SUPPORT,
        known=False,
    )


CATALOGUE = Catalogue("sxid", _fact, _unknown)


def sxid_table() -> Table[SxidFact]:
    """All codes that are known, the site's own included."""
    return CATALOGUE.table


def sxid_fact(code: int) -> SxidFact:
    """What is known of a code. An unknown one is shown raw, and never guessed at."""
    return CATALOGUE.fact(code)
