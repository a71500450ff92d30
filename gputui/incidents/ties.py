"""Which cases may explain each other: those that changed, and whoever is tied to them.

Causes are looked for on the subject of a finding, and elsewhere only where its finding, or that of
the cause, says so. What happened to one GPU leaves the others' cases as they hang.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gputui.incidents.case import Case
from gputui.incidents.rule import ANYBODY

_ById = Mapping[str, Sequence[Case]]
"""The cases by the ids of their incidents."""


class Ties:
    """The cases of a node by whom they are about, and who looks for a cause where."""

    def __init__(self) -> None:
        self._on: dict[str, dict[int, Case]] = {}
        self._of_kind: dict[str, dict[int, Case]] = {}
        self._afar: dict[int, Case] = {}
        self._waiting_for: dict[str, dict[int, Case]] = {}
        self._touched: set[str] = set()
        self._touched_kinds: set[str] = set()

    def add(self, case: Case) -> None:
        """Take in a case, the last of all."""
        self._on.setdefault(case.finding.subject.name, {})[case.number] = case
        self._of_kind.setdefault(case.rule.kind, {})[case.number] = case
        self.touch(case)

    def stir(self, case: Case) -> None:
        """A case's incident has changed."""
        self._touched.add(case.finding.subject.name)
        self._touched_kinds.add(case.rule.kind)

    def touch(self, case: Case) -> None:
        """A case was noticed anew, by a finding that may look for other causes."""
        finding, elsewhere = case.finding, case.elsewhere
        self._touched.add(finding.subject.name)
        self._touched_kinds.add(case.rule.kind)
        is_afar = bool(finding.others or finding.covers or case.cause_before)
        for cause in elsewhere:
            if cause.on == ANYBODY:
                self._waiting_for.setdefault(cause.kind, {})[case.number] = case
            else:
                is_afar = True
        if is_afar:
            self._afar[case.number] = case

    def forget(self, case: Case) -> None:
        """Leave a case out from now on."""
        name, kind = case.finding.subject.name, case.rule.kind
        _drop(self._on, name, case)
        _drop(self._of_kind, kind, case)
        self._touched.add(name)
        self._touched_kinds.add(kind)
        self._afar.pop(case.number, None)
        for waiting in self._waiting_for.values():
            waiting.pop(case.number, None)

    def on(self, name: str) -> Sequence[Case]:
        """The cases on a subject, in the order in which they came."""
        return tuple(self._on.get(name, {}).values())

    def take(self, by_id: _ById) -> list[Case]:
        """The open cases on subjects of which something has changed, and on all that these are tied
        to; afterwards nothing has changed.
        """
        waiting = list(self._touched)
        for case in self._afar.values():
            if case.is_open:
                waiting += _named_by(case)
        for kind in self._touched_kinds & self._waiting_for.keys():
            waiting += _subjects(self._waiting_for[kind].values())
        self._touched.clear()
        self._touched_kinds.clear()
        found: list[Case] = []
        done: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name not in done:
                done.add(name)
                for case in self._on.get(name, {}).values():
                    if case.is_open:
                        found.append(case)
                        waiting += self._tied_to(case, by_id)
        return found

    def _tied_to(self, case: Case, by_id: _ById) -> Iterator[str]:
        """The subjects of what a case may hang under now, and of what hangs together already."""
        for cause in case.elsewhere:
            if cause.on == ANYBODY and cause.kind in self._of_kind:
                yield from _subjects(self._of_kind[cause.kind].values())
        incident = case.incident
        if incident is not None:
            for one in incident.children:
                yield from _subjects(by_id.get(one, ()))
            for above in (incident.parent, case.cause_before):
                if above is not None:
                    yield from _subjects(by_id.get(above, ()))


def _named_by(case: Case) -> Iterator[str]:
    """The subjects that a case names, its own among them."""
    finding = case.finding
    yield finding.subject.name
    yield from finding.others
    yield from finding.covers
    for cause in case.elsewhere:
        if cause.on is not None and cause.on != ANYBODY:
            yield cause.on


def _subjects(cases: Iterable[Case]) -> Iterator[str]:
    return (case.finding.subject.name for case in cases if case.is_open)


def _drop(groups: dict[str, dict[int, Case]], name: str, case: Case) -> None:
    group = groups[name]
    del group[case.number]
    if not group:
        del groups[name]
