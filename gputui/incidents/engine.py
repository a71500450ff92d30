"""From findings to incidents: open, count, group, clear and reopen.

Pure: no clock, no input, no output. The same samples and events give the same incidents with the
same ids, live, replayed or in virtual time. Memory is bounded, whatever comes.

A case is one thing that a rule noticed on one subject (and one key). It opens when the rule's
finding held long enough, counts what is noticed again, and clears when it has been over for long
enough. Noticed again soon after, it is the same incident reopened; later, a new one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gputui.incidents import evidence
from gputui.incidents.case import (
    Case,
    CaseKey,
    SavedIncident,
    recalled,
    saved,
)
from gputui.incidents.history import DEFAULTS, History
from gputui.incidents.links import linked
from gputui.incidents.rule import Finding, LookAgain, Noticed, Over, Rule, Span, Subject
from gputui.incidents.thresholds import Thresholds
from gputui.logs.job_event import JobEvent
from gputui.logs.kernel import KernelEvent
from gputui.model import Incident, NodeSample
from gputui.silence import Silence

REOPENS_WITHIN_S = 600.0
"""Noticed again within this time after it cleared, a thing is the same incident."""

MOST_CASES = 2000
_MOST_CLEARED = 200
_EARLY = 0.1
"""The part of an interval that a span may fall short by: samples do not come to the millisecond."""


class Engine:
    """The incidents of one node. ``interval_s`` is what a span of samples counts in."""

    def __init__(
        self, rules: Iterable[Rule], *, interval_s: float, thresholds: Thresholds = DEFAULTS
    ) -> None:
        self.past = History(thresholds)
        self._rules = tuple(rules)
        self._interval_s = interval_s
        self._cases: dict[CaseKey, Case] = {}
        self._changed: dict[str, Incident] = {}
        self._cleared: dict[str, Incident] = {}
        self._host = ""
        self._now_s = 0.0
        self._linked = True
        self._wanted: list[float] = []

    # --- what comes in --------------------------------------------------------------------------

    def meet(self, sample: NodeSample) -> None:
        """Learn which GPUs there are, without judging yet: the log may be older than they are."""
        self._host = sample.host
        self._now_s = max(self._now_s, sample.time_s)
        self.past.add_sample(sample)

    def sample(self, sample: NodeSample) -> None:
        """Look at a sample. A GPU that does not answer has no readings in it, only its code."""
        self.meet(sample)
        seen: set[CaseKey] = set()
        self._wanted = [at_s for at_s in self._wanted if at_s > sample.time_s]
        for rule in self._rules:
            if rule.on_sample is not None:
                seen |= self._see(rule, rule.on_sample(sample, self.past), sample.time_s)
        for key, case in list(self._cases.items()):
            if case.rule.on_sample is not None and key not in seen:
                self._absent(key, case, sample.time_s)
        self.pass_time(sample.time_s)

    def failed(self, sample: NodeSample) -> None:
        """The driver as a whole gave no answer. What was so of its GPUs is neither confirmed nor
        over.
        """
        self._host = sample.host
        self._now_s = max(self._now_s, sample.time_s)
        for rule in self._rules:
            if rule.on_failure is not None:
                self._see(rule, rule.on_failure(sample, self.past), sample.time_s)
        self.pass_time(sample.time_s)

    def silent(self, time_s: float, silence: Silence, last: NodeSample) -> None:
        """No sample comes. What was so in the last one is neither confirmed nor over."""
        for rule in self._rules:
            if rule.on_silence is not None:
                self._see(rule, rule.on_silence(silence, last, self.past), time_s)
        self.pass_time(time_s)

    def log(self, event: KernelEvent) -> None:
        """Look at an event of the kernel log. It may be older than the last sample."""
        self.past.add_event(event)
        self._look(event, count=1)

    def log_again(self, event: KernelEvent, told: KernelEvent) -> None:
        """The same as ``told``, in the kernel's own words: better evidence, but not one more."""
        self.past.add_event(event, instead_of=told)
        self._look(event, count=0)

    def _look(self, event: KernelEvent, *, count: int) -> None:
        for rule in self._rules:
            if rule.on_log is None:
                continue
            self._note(rule, rule.on_log(event, self.past), event.time_s, count)
        self._linked = False

    def job(self, event: JobEvent) -> None:
        """Look at an event of a job's log. It may be older than the last sample."""
        self.past.add_job_event(event)
        for rule in self._rules:
            if rule.on_job is not None:
                self._note(rule, rule.on_job(event, self.past), event.time_s)
        self._linked = False

    def _see(self, rule: Rule, noticed: Iterable[Noticed], time_s: float) -> set[CaseKey]:
        """What a rule noticed that is so now; the cases that it concerns."""
        seen = set()
        for one in noticed:
            if isinstance(one, Finding):
                seen.add(self._holding(rule, one, time_s))
            else:
                self._heed(rule, one, time_s)
        return seen

    def _note(self, rule: Rule, noticed: Iterable[Noticed], time_s: float, count: int = 1) -> None:
        """What a rule noticed that happened."""
        for one in noticed:
            if isinstance(one, Finding):
                self._happened(rule, one, time_s, count)
            else:
                self._link()
                self._heed(rule, one, time_s)

    def _heed(self, rule: Rule, one: Over | LookAgain, time_s: float) -> None:
        if isinstance(one, Over):
            self._over(rule, one, time_s)
        else:
            self._wanted.append(one.at_s)

    def pass_time(self, time_s: float) -> None:
        """Clear what has been quiet for long enough, and forget what cleared long ago."""
        self._link()
        for key, case in list(self._cases.items()):
            if case.incident is None:
                continue
            if case.is_open:
                since_s = case.quiet_since_s
                if since_s is not None and self._passed(case.clears, since_s, time_s):
                    self._clear(case, time_s)
            elif self._long_over(case, time_s):
                if case.rule.on_sample is not None and case.absent_s is None:
                    case.incident = None  # noticed again: to become a new incident
                else:
                    del self._cases[key]
        self._linked = False

    def acknowledge(self, incident_id: str) -> bool:
        """Mark an open incident as seen by somebody; False if there is none of this id."""
        for case in self._cases.values():
            if case.is_open and case.incident is not None and case.incident.id == incident_id:
                self._put(case, replace(case.incident, acknowledged=True))
                return True
        return False

    def rename(self, subjects: Mapping[str, Subject]) -> None:
        """Go on with the GPUs under their proper names: it has turned out who they are."""
        for key, case in list(self._cases.items()):
            kind, name, which = key
            subject = subjects.get(name)
            if subject is None or (kind, subject.name, which) in self._cases:
                continue
            del self._cases[key]
            self._cases[kind, subject.name, which] = case
            case.finding = replace(case.finding, subject=subject)
            if case.incident is not None:
                named = replace(case.incident, subject=subject.name, gpu=subject.gpu)
                self._put(case, named)
        self._linked = False

    def recall(self, saved: Iterable[SavedIncident]) -> None:
        """Have incidents open again that were open when this node was last watched.

        Noticed again, each goes on as what it was; otherwise it clears as if it had been watched.
        """
        rules = {rule.kind: rule for rule in self._rules}
        for one in saved:
            rule = rules.get(one.incident.kind)
            if rule is not None:
                case = recalled(rule, one)
                self._cases.setdefault(case.key, case)
        self._linked = False

    # --- what comes out -------------------------------------------------------------------------

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """The open ones, worst first, then newest; children follow their parent."""
        self._link()
        found = [case.incident for case in self._cases.values() if case.is_open and case.incident]
        found.sort(key=lambda incident: (-incident.severity, -incident.opened_s, incident.id))
        below: dict[str | None, list[Incident]] = {}
        for incident in found:
            below.setdefault(incident.parent, []).append(incident)
        ordered: list[Incident] = []
        waiting = below.pop(None, [])[::-1]
        while waiting:
            incident = waiting.pop()
            ordered.append(incident)
            waiting += below.pop(incident.id, [])[::-1]
        return tuple(ordered)

    @property
    def cleared(self) -> tuple[Incident, ...]:
        """Those that cleared last, in the order in which they did."""
        return tuple(self._cleared.values())

    @property
    def saved(self) -> tuple[SavedIncident, ...]:
        """The open ones, to be recalled at another time."""
        found = (saved(case) for case in self._cases.values() if case.is_open)
        return tuple(one for one in found if one is not None)

    @property
    def undecided(self) -> bool:
        """Whether something is noticed that has not yet held for long enough to be an incident."""
        return any(
            case.rule.on_sample is not None and case.absent_s is None and not case.is_open
            for case in self._cases.values()
        )

    @property
    def next_look_s(self) -> float | None:
        """When a sample may next change something although nothing happens; None for never."""
        due = [*self._wanted]
        for case in self._cases.values():
            if case.is_open:
                since_s = case.quiet_since_s
                if since_s is not None:
                    due.append(since_s + self._length_s(case.clears))
            elif case.absent_s is None and case.rule.on_sample is not None:
                due.append(case.since_s + self._length_s(case.holds))
        return min(due, default=None)

    def changes(self) -> list[Incident]:
        """The incidents that opened, changed or cleared since the last call, each as it is now."""
        self._link()
        changed = list(self._changed.values())
        self._changed.clear()
        return changed

    # --- the life of a case ---------------------------------------------------------------------

    def _case(self, rule: Rule, finding: Finding, time_s: float) -> tuple[CaseKey, Case]:
        key = (rule.kind, finding.subject.name, finding.key)
        case = self._cases.get(key)
        if case is None:
            if len(self._cases) >= MOST_CASES:
                self._make_room()
            case = self._cases[key] = Case(rule, finding, since_s=time_s, last_s=time_s)
        elif self._long_over(case, time_s):
            case.incident = None
        case.finding = finding
        return key, case

    @staticmethod
    def _long_over(case: Case, time_s: float) -> bool:
        cleared_s = case.incident.cleared_s if case.incident else None
        return cleared_s is not None and time_s - cleared_s > REOPENS_WITHIN_S

    def _holding(self, rule: Rule, finding: Finding, time_s: float) -> CaseKey:
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
        return key

    def _held(self, case: Case, time_s: float) -> bool:
        if case.holds.samples > 1 and case.looks < 2:
            return False
        return self._passed(case.holds, case.since_s, time_s)

    def _passed(self, span: Span, since_s: float, time_s: float) -> bool:
        return time_s >= since_s + self._length_s(span)

    def _length_s(self, span: Span) -> float:
        return max(span.in_seconds(self._interval_s) - _EARLY * self._interval_s, 0.0)

    def _happened(self, rule: Rule, finding: Finding, time_s: float, count: int) -> None:
        """A finding of the log: it happened once, or (``count`` 0) is told once more."""
        _, case = self._case(rule, finding, time_s)
        case.absent_s = None
        if case.is_open:
            case.last_s = max(case.last_s, time_s)
            pieces = finding.evidence
            if not count:
                pieces = evidence.fresh(case.evidence, pieces)
            self._update(case, pieces, time_s, count=count)
        else:
            case.since_s = case.last_s = time_s
            self._open(case, time_s)

    def _absent(self, key: CaseKey, case: Case, time_s: float) -> None:
        """A sample without the finding."""
        if case.incident is None:
            del self._cases[key]
        elif case.absent_s is None:
            case.absent_s = time_s
            if case.is_open:
                self._put(case, replace(case.incident, eased_s=case.last_s))

    def _over(self, rule: Rule, over: Over, time_s: float) -> None:
        for (kind, subject, _), case in self._cases.items():
            if kind == rule.kind and subject == over.subject.name and case.is_open:
                self._clear(case, time_s)

    def _make_room(self) -> None:
        """Forget the case that matters least: cleared before open, mild before grave, old first."""

        def matters(key: CaseKey) -> tuple[bool, int, float]:
            case = self._cases[key]
            return case.is_open, case.finding.severity or case.rule.severity, case.last_s

        least = min(self._cases, key=matters)
        case = self._cases[least]
        if case.is_open:
            self._clear(case, case.last_s)
        del self._cases[least]

    # --- the incident of a case -----------------------------------------------------------------

    def _open(self, case: Case, time_s: float) -> None:
        finding, rule = case.finding, case.rule
        before = case.incident
        if before is not None:
            again = replace(before, cleared_s=None, acknowledged=False, count=before.count + 1)
            self._put(case, again)
            self._update(case, finding.evidence, time_s)
            return
        opened_s = case.since_s
        if finding.since_s is not None:
            opened_s = min(opened_s, finding.since_s)
        gpu = finding.subject.gpu
        whom = finding.subject.name if gpu is None else f"gpu{gpu}"
        kind = f"{rule.kind}-{finding.key}" if finding.key else rule.kind
        incident = Incident(
            id=f"{self._host}/{whom}/{kind}/{opened_s:.0f}",
            kind=rule.kind,
            subject=finding.subject.name,
            host=self._host,
            severity=rule.severity if finding.severity is None else finding.severity,
            opened_s=opened_s,
            cause=finding.cause,
            cause_text=finding.cause_text,
            action=finding.action,
            action_text=finding.action_text,
            gpu=gpu,
            evidence=evidence.bounded((), self._stamped(finding.evidence, time_s)),
        )
        self._put(case, incident)

    def _update(
        self, case: Case, pieces: tuple[str, ...], time_s: float, *, count: int = 0
    ) -> None:
        before, finding = case.incident, case.finding
        if before is None:
            return
        opened_s = min(before.opened_s, time_s)
        if finding.since_s is not None:
            opened_s = min(opened_s, finding.since_s)
        severity = case.rule.severity if finding.severity is None else finding.severity
        after = replace(
            before,
            severity=severity,
            opened_s=opened_s,
            count=before.count + count,
            cause=finding.cause,
            cause_text=finding.cause_text,
            action=finding.action,
            action_text=finding.action_text,
            gpu=before.gpu if finding.subject.gpu is None else finding.subject.gpu,
            evidence=evidence.bounded(before.evidence, self._stamped(pieces, time_s)),
            eased_s=None,
        )
        # New words and readings alone are no change worth telling: they would come every second.
        told = replace(
            after,
            cause_text=before.cause_text,
            action_text=before.action_text,
            evidence=before.evidence,
        )
        if told == before:
            case.incident = after
        else:
            self._put(case, after)

    def _stamped(self, pieces: tuple[str, ...], time_s: float) -> tuple[str, ...]:
        now_s = max(self._now_s, time_s)
        return tuple(evidence.stamped(piece, time_s, now_s) for piece in pieces)

    def _clear(self, case: Case, time_s: float) -> None:
        if case.incident is None or not case.is_open:
            return
        cleared_s = max(time_s, case.incident.opened_s)
        self._put(case, replace(case.incident, cleared_s=cleared_s, parent=None, children=()))
        for child in self._cases.values():
            if child.is_open and child.incident and child.incident.parent == case.incident.id:
                self._clear(child, time_s)

    def _put(self, case: Case, incident: Incident) -> None:
        case.incident = incident
        self._changed[incident.id] = incident
        self._cleared.pop(incident.id, None)
        if incident.cleared_s is not None:
            self._cleared[incident.id] = incident
            if len(self._cleared) > _MOST_CLEARED:
                del self._cleared[next(iter(self._cleared))]

    def _link(self) -> None:
        """Hang what an open incident explains under it, if anything happened since it was done."""
        if self._linked:
            return
        self._linked = True
        for case, incident in linked(case for case in self._cases.values() if case.is_open):
            self._put(case, incident)
