"""All cases of a node, and the life of each: from being noticed to an incident that clears.

A case opens when its finding held long enough, counts what is noticed again, and clears when it has
been over for long enough. Noticed again soon after, it is the same incident reopened; later, a new
one. Memory is bounded: the case that matters least makes room.

It is long because every step of a case's life keeps the same few indexes true; they are nobody
else's to change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gputui.incidents import evidence
from gputui.incidents.again import told_again
from gputui.incidents.case import (
    Case,
    CaseKey,
    SavedIncident,
    advised,
    is_news,
    opened,
    recalled,
    revised,
    updated,
    with_own_id,
)
from gputui.incidents.links import linked
from gputui.incidents.maintenance import Window
from gputui.incidents.queue import Queue
from gputui.incidents.rule import CRITICAL, Finding, Rule, Span, Subject
from gputui.incidents.ties import Ties
from gputui.model import Incident

REOPENS_WITHIN_S = 600.0
"""Noticed again within this time after it cleared, a thing is the same incident."""

MOST_CASES = 2000
LONGEST_SNOOZE_S = 7 * 86_400.0
_MOST_CLEARED = 200
_MOST_CHANGED = 2 * MOST_CASES
_A_BIT_S = 0.001
_SOON = 3
"""Samples that whoever looks once waits for."""

_EARLY = 0.1
"""The part of an interval that a span may fall short by: samples do not come to the millisecond."""


class Casebook:
    """The cases of one node.

    A span of samples counts in ``interval_s``; in ``windows`` the site is at work. ``host`` is the
    node's name, ``now_s`` when it was last read.
    """

    def __init__(self, interval_s: float, windows: tuple[Window, ...] = ()) -> None:
        self.host = ""
        self.now_s = 0.0
        self._interval_s = interval_s
        self._windows = windows
        self._cases: dict[CaseKey, Case] = {}
        self._numbered = 0
        self._by_id: dict[str, list[Case]] = {}
        self._changed: dict[str, Incident] = {}
        self._cleared: dict[str, Incident] = {}
        self._coverers: dict[CaseKey, None] = {}
        self._grave: dict[str, tuple[Incident, float]] = {}
        self._due = Queue(self._due_of)
        self._crowd: Queue[tuple[tuple[bool, int, float], CaseKey]] | None = None
        self._reviews = bool(windows)
        self._ties = Ties()
        self._linked = True

    # --- what was noticed -----------------------------------------------------------------------

    def holds(self, rule: Rule, finding: Finding, time_s: float) -> CaseKey:
        """A finding of a sample: so it is now."""
        key, case = self._case(rule, finding, time_s)
        if case.absent_s is not None and not case.is_open:
            case.since_s, case.looks = time_s, 0
        case.absent_s = None
        case.last_s = time_s
        case.looks += 1
        if case.is_open:
            self._update(case, evidence.fresh(case.evidence, finding.evidence), time_s)
        elif self._held(case, time_s):
            self._open(case, time_s)
        self._note(case)
        return key

    def happened(self, rule: Rule, finding: Finding, time_s: float, count: int) -> None:
        """A finding of an event: it happened so many times, or (``count`` 0) is told once more."""
        finding, earlier = told_again(self._cases, rule, finding)
        _, case = self._case(rule, finding, time_s)
        if case.over_s is not None and time_s <= case.over_s:
            return  # older than the word that it is over
        case.absent_s = None
        case.last_s = max(case.last_s, time_s)
        if case.is_open:
            case.since_s = min(case.since_s, time_s)
            pieces = finding.evidence
            if not count:
                pieces = evidence.fresh(case.evidence, pieces)
            self._update(case, pieces, time_s, count=count + earlier)
            self._note_grave(case.incident, time_s)
        else:
            case.since_s = time_s
            self._open(case, time_s)
            if more := max(count - 1, 0) + earlier:
                self._update(case, (), time_s, count=more)

    def absent(self, seen: set[CaseKey], time_s: float) -> None:
        """A sample was looked at, and of what readings show only this was ``seen``."""
        for key, case in list(self._cases.items()):
            if case.rule.on_sample is None or key in seen:
                continue
            if case.incident is None:
                self._forget(key)
            elif case.absent_s is None:
                case.absent_s = time_s
                if case.is_open:
                    self._put(case, revised(case.incident, eased_s=case.last_s))
                self._note(case)

    def goes_on(self, time_s: float, looks: int) -> None:
        """So many samples up to a time, which were not taken, would have shown the same."""
        for case in self._cases.values():
            if case.is_seen:
                case.last_s = max(case.last_s, time_s)
                case.looks += looks
                self._ties.stir(case)

    def over(self, rule: Rule, subject: Subject, time_s: float) -> None:
        """All that a rule noticed on a subject is over."""
        self.link()
        for case in self._ties.on(subject.name):
            if case.rule.kind == rule.kind:
                case.over_s = time_s
                self._clear(case, time_s)

    def coverer(self, rule: Rule, finding: Finding) -> Finding | None:
        """What an open incident of the same kind was told with that covers a finding's subject."""
        for other in self._coverers:
            case = self._cases[other]
            is_alike = other[0] == rule.kind and other[2] == finding.key
            if is_alike and case.is_open and finding.subject.name in case.finding.covers:
                return case.finding
        return None

    def is_open(self, rule: Rule, finding: Finding) -> bool:
        """Whether what was found is an incident of its own."""
        case = self._cases.get((rule.kind, finding.subject.name, finding.key))
        return case is not None and case.is_open

    # --- what passes ----------------------------------------------------------------------------

    def pass_time(self, time_s: float) -> None:
        """Clear what has been quiet for long enough, and forget what cleared long ago."""
        self.link()
        due = self._due.take(time_s)
        due.sort(key=lambda case: case.number)
        for case in list(self._cases.values()) if self._reviews else due:
            if case.incident is None:
                continue
            if case.is_open:
                since_s = case.quiet_since_s
                if since_s is not None and self._passed(case.clears, since_s, time_s):
                    self._clear(case, time_s)
                else:
                    self._review(case, time_s)
            elif case.is_long_over(time_s, REOPENS_WITHIN_S):
                if case.rule.on_sample is not None and case.absent_s is None:
                    self._tell(case, None)  # noticed again: to become a new incident
                else:
                    self._forget(case.key)
        for case in due:
            if self._cases.get(case.key) is case:
                self._due.note(case)
        self._linked = False

    def acknowledge(self, incident_id: str) -> bool:
        """Mark an open incident as seen by somebody; False if there is none of this id."""
        case = self._open_one(incident_id)
        if case is None or case.incident is None:
            return False
        self._put(case, revised(case.incident, acknowledged=True))
        return True

    def snooze(self, incident_id: str, until_s: float) -> bool:
        """Let nobody be called for an open incident until a time; False if there is none."""
        case = self._open_one(incident_id)
        if case is None or case.incident is None:
            return False
        until_s = min(until_s, self.now_s + LONGEST_SNOOZE_S)
        self._reviews = True
        self._put(case, revised(case.incident, snoozed_until_s=until_s))
        return True

    def rename(self, subjects: Mapping[str, Subject]) -> None:
        """Go on with the GPUs under their proper names: it has turned out who they are."""
        for key, case in list(self._cases.items()):
            kind, name, which = key
            subject = subjects.get(name)
            if subject is None or (kind, subject.name, which) in self._cases:
                continue
            self._forget(key)
            case.finding = replace(case.finding, subject=subject)
            self._keep(case.key, case)
            if case.incident is not None:
                named = revised(case.incident, subject=subject.name, gpu=subject.gpu)
                self._put(case, named)
        self._linked = False

    def recall(self, rules: Mapping[str, Rule], saved: Iterable[SavedIncident]) -> None:
        """Have incidents open again that were open when this node was last watched."""
        self._reviews = True
        for one in saved:
            rule = rules.get(one.incident.kind)
            if rule is not None:
                case = recalled(rule, one)
                if case.key not in self._cases:
                    self._keep(case.key, case)
        self._linked = False

    # --- what is known --------------------------------------------------------------------------

    @property
    def open_cases(self) -> list[Case]:
        """Those that are incidents now."""
        return [case for case in self._cases.values() if case.is_open]

    @property
    def cleared(self) -> tuple[Incident, ...]:
        """Those that cleared last, in the order in which they did."""
        return tuple(self._cleared.values())

    @property
    def undecided(self) -> bool:
        """Whether something is noticed that a few more samples may make an incident."""
        soon_s = _SOON * self._interval_s
        return any(
            case.is_undecided and case.holds.in_seconds(self._interval_s) <= soon_s
            for case in self._cases.values()
        )

    @property
    def due_s(self) -> float | None:
        """When a case would next open or clear, if what is so stays so; None for never."""
        due = []
        for case in self._cases.values():
            if case.is_open:
                if case.quiet_since_s is not None:
                    due.append(case.quiet_since_s + self._length_s(case.clears))
            elif case.is_undecided:
                due.append(case.since_s + self._length_s(case.holds))
        return min(due, default=None)

    def changes(self) -> list[Incident]:
        """The incidents that opened, changed or cleared since the last call, each as it is now."""
        changed = list(self._changed.values())
        self._changed.clear()
        return changed

    def take_grave(self) -> list[tuple[Incident, float]]:
        """The grave incidents that began, became so or happened again since the last call, each
        with the time when it did.
        """
        grave = list(self._grave.values())
        self._grave.clear()
        return grave

    def link(self) -> None:
        """Hang what an open incident explains under it, if anything happened since it was done."""
        if not self._linked:
            for case, incident, lent in linked(self._ties.take(self._by_id)):
                case.lent = lent
                self._put(case, advised(incident, case))
            self._linked = True

    # --- the cases ------------------------------------------------------------------------------

    def _case(self, rule: Rule, finding: Finding, time_s: float) -> tuple[CaseKey, Case]:
        key = (rule.kind, finding.subject.name, finding.key)
        case = self._cases.get(key)
        is_new = case is None
        if case is None:
            if len(self._cases) >= MOST_CASES:
                self._make_room()
            case = Case(rule, finding, since_s=time_s, last_s=time_s)
        elif case.is_long_over(time_s, REOPENS_WITHIN_S):
            self._tell(case, None)
        # Several rules may notice the same: the last one says when it is over.
        before = case.rule, case.finding.clears, case.finding.severity
        case.rule, case.finding = rule, finding
        if is_new:
            self._keep(key, case)
        else:
            self._note_covers(key, case)
            self._ties.touch(case)
            if before != (rule, finding.clears, finding.severity):
                self._note(case)
        self._linked = False
        return key, case

    def _keep(self, key: CaseKey, case: Case) -> None:
        """Take in a case, the last of all."""
        self._numbered += 1
        case.number = self._numbered
        self._cases[key] = case
        if case.incident is not None:
            self._by_id.setdefault(case.incident.id, []).append(case)
        self._note_covers(key, case)
        self._ties.add(case)
        self._note(case)

    def _note(self, case: Case) -> None:
        """It may matter less now, or be due sooner."""
        self._due.note(case)
        if self._crowd is not None:
            self._crowd.note(case)

    def _note_covers(self, key: CaseKey, case: Case) -> None:
        if case.finding.covers:
            self._coverers[key] = None
        elif self._coverers:
            self._coverers.pop(key, None)

    def _forget(self, key: CaseKey) -> None:
        case = self._cases.pop(key)
        self._coverers.pop(key, None)
        self._ties.forget(case)
        self._due.forget(case)
        if self._crowd is not None:
            self._crowd.forget(case)
        if case.incident is not None:
            self._drop_id(case.incident.id, case)

    def _tell(self, case: Case, incident: Incident | None) -> None:
        """Let a case be told as an incident from now on, or as none; it is found by its id."""
        before, case.incident = case.incident, incident
        if incident is not None and before is not None and incident.id == before.id:
            return
        if before is not None:
            self._drop_id(before.id, case)
        if incident is not None:
            self._by_id.setdefault(incident.id, []).append(case)

    def _drop_id(self, incident_id: str, case: Case) -> None:
        others = [one for one in self._by_id[incident_id] if one is not case]
        if others:
            self._by_id[incident_id] = others
        else:
            del self._by_id[incident_id]

    def _open_one(self, incident_id: str) -> Case | None:
        return next((case for case in self._by_id.get(incident_id, ()) if case.is_open), None)

    def _due_of(self, case: Case) -> float | None:
        """When time alone would end something of a case; None if it would not."""
        if case.incident is None:
            return None
        if case.incident.cleared_s is not None:
            return case.incident.cleared_s + REOPENS_WITHIN_S - _A_BIT_S
        since_s = case.quiet_since_s
        return None if since_s is None else since_s + self._length_s(case.clears)

    def _held(self, case: Case, time_s: float) -> bool:
        if case.holds.samples > 1 and case.looks < 2:
            return False
        return self._passed(case.holds, case.since_s, time_s)

    def _passed(self, span: Span, since_s: float, time_s: float) -> bool:
        return time_s >= since_s + self._length_s(span)

    def _length_s(self, span: Span) -> float:
        return max(span.in_seconds(self._interval_s) - _EARLY * self._interval_s, 0.0)

    def _make_room(self) -> None:
        """Forget the case that matters least: cleared before open, mild before grave, old first."""
        if self._crowd is None:
            self._crowd = Queue(lambda case: (case.matters, case.key))
            for case in self._cases.values():
                self._crowd.note(case)
        least = self._crowd.least()
        if least is None:
            return
        if least.is_open:
            self._clear(least, least.last_s)
        self._forget(least.key)

    # --- the incident of a case -----------------------------------------------------------------

    def _open(self, case: Case, time_s: float) -> None:
        case.over_s = None
        before = case.incident
        if before is not None:
            again = revised(before, cleared_s=None, acknowledged=False, count=before.count + 1)
            self._put(case, again)
            self._update(case, case.finding.evidence, time_s)
            self._note_grave(case.incident, time_s)
            self._due.note(case)
            return
        pieces = evidence.bounded((), self._stamped(case.finding.evidence, time_s))
        incident = opened(case, self.host, pieces)
        incident = with_own_id(incident, self._alike(incident))
        window = self._window(incident, time_s)
        self._put(case, revised(incident, maintenance=window) if window else incident)
        self._note_grave(incident, time_s)
        self._due.note(case)

    def _alike(self, incident: Incident) -> Iterator[Incident]:
        """The incidents of the same kind and id, of cases or cleared long ago."""
        for case in self._by_id.get(incident.id, ()):
            if case.rule.kind == incident.kind and case.incident is not None:
                yield case.incident
        if incident.id in self._cleared:
            yield self._cleared[incident.id]

    def _update(
        self, case: Case, pieces: tuple[str, ...], time_s: float, *, count: int = 0
    ) -> None:
        before = case.incident
        if before is None:
            return
        pieces = evidence.bounded(before.evidence, self._stamped(pieces, time_s))
        after = updated(before, case, pieces, time_s, count)
        if after.severity > before.severity:
            self._note_grave(after, time_s)
        if is_news(before, after):
            self._put(case, after)
        else:
            self._tell(case, after)

    def _review(self, case: Case, time_s: float) -> None:
        """What time alone changes of an open incident: a snooze ends, a window of maintenance
        begins or ends.
        """
        incident = case.incident
        if incident is None:
            return
        until_s = incident.snoozed_until_s
        if until_s is not None and time_s >= until_s:
            until_s = None
        window = self._window(incident, time_s)
        if (until_s, window) != (incident.snoozed_until_s, incident.maintenance):
            self._put(case, revised(incident, snoozed_until_s=until_s, maintenance=window))

    def _window(self, incident: Incident, time_s: float) -> str | None:
        return next((one.name for one in self._windows if one.covers(incident, time_s)), None)

    def _stamped(self, pieces: tuple[str, ...], time_s: float) -> tuple[str, ...]:
        now_s = max(self.now_s, time_s)
        return tuple(evidence.stamped(piece, time_s, now_s) for piece in pieces)

    def _clear(self, case: Case, time_s: float) -> None:
        """It is over, and so is what it explains, unless that is seen to be so still."""
        before = case.incident
        if before is None or before.cleared_s is not None:
            return
        cleared_s = max(time_s, before.opened_s)
        over = revised(before, cleared_s=cleared_s, parent=None, children=(), snoozed_until_s=None)
        self._put(case, over)
        for above in self._by_id.get(before.parent or "", ()):
            self._ties.stir(above)
        self._note(case)
        case.lent = None
        for child in self._below(over, before.children):
            if child.is_seen and child.incident is not None:
                self._put(child, revised(child.incident, parent=None))
            else:
                self._clear(child, time_s)

    def _below(self, incident: Incident, children: tuple[str, ...]) -> Iterable[Case]:
        """The open cases that hang under an incident, in the order in which they came."""
        if not children:
            return ()
        found = (case for name in children for case in self._by_id.get(name, ()))
        below = (case for case in found if case.is_open and case.parent == incident.id)
        return sorted(below, key=lambda case: case.number)

    def _note_grave(self, incident: Incident | None, time_s: float) -> None:
        if incident is not None and incident.severity is CRITICAL:
            self._grave.setdefault(incident.id, (incident, time_s))

    def _put(self, case: Case, incident: Incident) -> None:
        self._tell(case, incident)
        self._ties.stir(case)
        self._linked = False
        self._changed.pop(incident.id, None)
        self._changed[incident.id] = incident
        if len(self._changed) > _MOST_CHANGED:
            del self._changed[next(iter(self._changed))]
        self._cleared.pop(incident.id, None)
        if incident.cleared_s is not None:
            self._cleared[incident.id] = incident
            if len(self._cleared) > _MOST_CLEARED:
                del self._cleared[next(iter(self._cleared))]
