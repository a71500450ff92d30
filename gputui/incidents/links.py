"""Which open incident explains which: consequences hang under their cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gputui.incidents.case import Advice, Case, revised
from gputui.incidents.lending import lent
from gputui.incidents.rule import ANYBODY, Cause
from gputui.model import Incident

_LATE_S = 2.0
"""A cause may be told so much later than what it brought about."""

_Found = tuple[Case, Incident]
_Changed = tuple[Case, Incident, Advice | None]


def linked(open_cases: Iterable[Case]) -> Iterator[_Changed]:
    """The cases whose incident has another cause, other consequences or other advice now, each with
    that incident and what its consequences lend to it.
    """
    found = [(case, case.incident) for case in open_cases if case.incident is not None]
    found.sort(key=lambda one: one[1].id)
    places = _Places(found)
    parents: dict[str, str] = {}
    children: dict[str, list[str]] = {}
    for case, incident in found:
        if places.is_alone(case, incident):
            continue
        for cause in places.causes_of(case, incident):
            if not _is_above(incident.id, cause, parents):
                parents[incident.id] = cause
                children.setdefault(cause, []).append(incident.id)
                break
    by_id = {incident.id: case for case, incident in found}
    for case, incident in found:
        parent, below = parents.get(incident.id), tuple(children.get(incident.id, ()))
        advice = lent(case, _all_below(incident.id, children, by_id)) if below else None
        if (parent, below, advice) != (incident.parent, incident.children, case.lent):
            yield case, revised(incident, parent=parent, children=below), advice


def _all_below(
    one: str, children: Mapping[str, list[str]], by_id: Mapping[str, Case]
) -> Iterator[Case]:
    """The cases of what hangs under an incident, near and far."""
    for child in children.get(one, ()):
        yield by_id[child]
        yield from _all_below(child, children, by_id)


class _Places:
    """Who is to be found where: open incidents by kind and by whom they concern."""

    def __init__(self, found: Iterable[_Found]) -> None:
        self._at: dict[tuple[str, str], list[_Found]] = {}
        self._keyed: dict[tuple[str, str, str], list[_Found]] = {}
        self._covering: dict[tuple[str, str, str], str] = {}
        self._ids: set[str] = set()
        self._concerned: dict[str, int] = {}
        for one in found:
            case, incident = one
            self._ids.add(incident.id)
            kind, finding = case.rule.kind, case.finding
            for name in dict.fromkeys((finding.subject.name, *finding.others)):
                self._concerned[name] = self._concerned.get(name, 0) + 1
                self._at.setdefault((kind, name), []).append(one)
                self._keyed.setdefault((kind, name, finding.key), []).append(one)
            self._at.setdefault((kind, ANYBODY), []).append(one)
            self._keyed.setdefault((kind, ANYBODY, finding.key), []).append(one)
            for name in finding.covers:
                self._covering[kind, name, finding.key] = incident.id

    def is_alone(self, case: Case, incident: Incident) -> bool:
        """Whether nothing is there that an incident could hang under."""
        return (
            self._concerned.get(incident.subject) == 1
            and case.cause_before is None
            and not self._covering
            and not any(map(self._is_there, case.elsewhere))
        )

    def _is_there(self, cause: Cause) -> bool:
        """Whether there may be what a finding looks for on another subject than its own."""
        return cause.on != ANYBODY or (cause.kind, ANYBODY) in self._at

    def causes_of(self, case: Case, incident: Incident) -> Iterator[str]:
        """The ids of those that would explain an incident, the likeliest first."""
        covering = self._covering.get((case.rule.kind, incident.subject, case.finding.key))
        if covering is not None:
            yield covering
        for cause in case.finding.under:
            there = self._named(cause, incident.subject)
            if not there:
                continue
            fitting = [one for one in there if isinstance(cause, str) or _fits(cause, case, *one)]
            if len(fitting) > 1:
                fitting.sort(key=lambda one: (-one[0].since_s, one[1].id))
            for _, one in fitting:
                yield one.id
        if case.cause_before in self._ids:
            yield case.cause_before

    def _named(self, cause: str | Cause, subject: str) -> list[_Found] | None:
        """Those that are what a finding names as its cause, whenever they were."""
        if isinstance(cause, str):
            return self._at.get((cause, subject))
        if cause.key is None:
            return self._at.get((cause.kind, cause.on or subject))
        return self._keyed.get((cause.kind, cause.on or subject, cause.key))


def _fits(wanted: Cause, case: Case, cause: Case, its: Incident) -> bool:
    """Whether an open incident is grave enough, and in time, for the cause that a finding names."""
    if its.severity < wanted.at_least:
        return False
    if wanted.within_s is None:
        return True
    began_s = min(its.opened_s, cause.since_s)
    lasts = cause.rule.on_sample is not None
    until_s = (began_s if wanted.anew and lasts else cause.last_s) + wanted.within_s
    return began_s - _LATE_S <= case.since_s <= until_s


def _is_above(one: str, other: str, parents: Mapping[str, str]) -> bool:
    """Whether ``one`` is ``other``, or explains it already: nothing explains itself."""
    at: str | None = other
    while at is not None:
        if at == one:
            return True
        at = parents.get(at)
    return False
