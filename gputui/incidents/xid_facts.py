"""What is known of each Xid, from ``facts/xid.csv``; read when the first Xid comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gputui.model import Action, Severity

_FILE = Path(__file__).parents[1] / "facts" / "xid.csv"


@dataclass(frozen=True, slots=True)
class XidFact:
    """One code: NVIDIA's name for it, what it means, whom it blames, and what it asks for."""

    code: int
    name: str
    meaning: str
    cause: str
    severity: Severity
    action: Action


@cache
def _facts() -> Mapping[int, XidFact]:
    import csv

    severities = {severity.word: severity for severity in Severity}
    with _FILE.open(encoding="utf-8", newline="") as rows:
        facts = (
            XidFact(
                code=int(row["code"]),
                name=row["name"],
                meaning=row["meaning"],
                cause=row["cause"],
                severity=severities[row["severity"]],
                action=Action(row["action"]),
            )
            for row in csv.DictReader(rows)
        )
        return {fact.code: fact for fact in facts}


def xid_fact(code: int) -> XidFact:
    """What is known of a code. An unknown one is shown raw, and never guessed at."""
    known = _facts().get(code)
    if known is not None:
        return known
    return XidFact(
        code, "", "not in NVIDIA's catalogue", "unknown", Severity.WARNING, Action.CONTACT_SUPPORT
    )
