"""Which open incident explains which: consequences hang under their cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gputui.incidents.case import Case
from gputui.model import Incident


def linked(open_cases: Iterable[Case]) -> Iterator[tuple[Case, Incident]]:
    """The cases whose incident has another cause or other consequences now, with that incident."""
    found = [(case, case.incident) for case in open_cases if case.incident is not None]
    ids: dict[tuple[str, str], str] = {}
    for case, one in found:
        for name in case.finding.others:
            ids[case.rule.kind, name] = one.id
    for case, one in found:
        ids[case.rule.kind, case.finding.subject.name] = one.id
    parents: dict[str, str] = {}
    children: dict[str, list[str]] = {}
    for case, incident in found:
        causes = (ids.get((kind, incident.subject)) for kind in case.finding.under)
        parent = next(
            (cause for cause in causes if cause and not _is_above(incident.id, cause, parents)),
            None,
        )
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


def _is_above(one: str, other: str, parents: Mapping[str, str]) -> bool:
    """Whether ``one`` is ``other``, or explains it already: nothing explains itself."""
    at: str | None = other
    while at is not None:
        if at == one:
            return True
        at = parents.get(at)
    return False
