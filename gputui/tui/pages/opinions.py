"""What is said of the Xids in an incident: what each means, and what vendors make of it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gputui.model import Incident
from gputui.tui.pages.writer import Writer
from gputui.tui.roles import Role
from gputui.tui.text import Run

_XID = re.compile(r"\bXid (?:\([^)]*\):? )?(\d{1,3})\b")
_MOST_CODES = 4


def codes_in(incidents: Iterable[Incident]) -> list[int]:
    """The codes that the evidence names, in the order in which they came."""
    found = (
        int(code)
        for incident in incidents
        for text in (*incident.evidence, incident.cause_text)
        for code in _XID.findall(text)
    )
    return list(dict.fromkeys(found))[:_MOST_CODES]


def opinions(writer: Writer, incidents: Iterable[Incident]) -> None:
    """One section for each code; where vendors differ about how bad it is, that is said first."""
    codes = codes_in(incidents)
    if not codes:
        return
    from gputui.facts.xid import xid_fact  # a table that is read when somebody wants to know

    for code in codes:
        fact = xid_fact(code)
        writer.heading(f"XID {code}")
        writer.labelled("means", fact.meaning)
        if fact.at_fault:
            writer.labelled("at fault", fact.at_fault.replace(":", ": ").replace("|", ", "))
        if fact.disputed:
            writer.line(Run("vendors differ about how bad it is:", Role.WARNING))
        for verdict in fact.verdicts:
            writer.labelled(f" {verdict.vendor}", f"{verdict.word} ({verdict.meaning})", cells=27)
