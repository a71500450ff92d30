"""Which open incident explains which: consequences hang under their cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gputui.incidents.case import Case
from gputui.model import Incident


def linked(open_cases: Iterable[Case]) -> Iterator[tuple[Case, Incident]]:
    """The cases whose incident has another cause or other consequences now, with that incident."""
    found = [(case, case.incident) for case in open_cases if case.incident is not None]
    ids = {(case.rule.kind, case.finding.subject.name): one.id for case, one in found}
    parents: dict[str, str] = {}
    children: dict[str, list[str]] = {}
    for case, incident in found:
        causes = (ids.get((kind, incident.subject)) for kind in case.finding.under)
        parent = next((cause for cause in causes if cause), None)
        if parent is not None:
            parents[incident.id] = parent
            children.setdefault(parent, []).append(incident.id)
    for case, incident in found:
        named = replace(
            incident,
            parent=parents.get(incident.id),
            children=tuple(sorted(children.get(incident.id, ()))),
        )
        if named != incident:
            yield case, named
