"""From samples and events to incidents: what rules notice, and what becomes of it.

Pure: no clock, no input, no output. The same samples and events give the same incidents with the
same ids, live, replayed or in virtual time, and events of one moment may come in any order. Memory
is bounded, whatever comes. The life of a single case is :mod:`gputui.incidents.casebook`'s matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from gputui.incidents.case import CaseKey, SavedIncident, saved
from gputui.incidents.casebook import Casebook
from gputui.incidents.history import DEFAULTS, History
from gputui.incidents.maintenance import Window
from gputui.incidents.moment import Moment
from gputui.incidents.rule import Finding, LogLook, LookAgain, Noticed, Over, Rule, Subject
from gputui.incidents.thresholds import Thresholds
from gputui.logs.job_event import JobEvent
from gputui.logs.kernel import KernelEvent
from gputui.model import Incident, NodeSample
from gputui.silence import Silence

MOST_WANTED = 1000
"""How many moments at which rules want to look are kept."""

_MOST_SORTS = 500
"""Of so many kinds and codes of events it is remembered which rules want to see them."""


class Engine:
    """The incidents of one node.

    ``interval_s`` is what a span of samples counts in; ``maintenance`` are the windows in which the
    site is at work.
    """

    def __init__(
        self,
        rules: Iterable[Rule],
        *,
        interval_s: float,
        thresholds: Thresholds = DEFAULTS,
        maintenance: tuple[Window, ...] = (),
    ) -> None:
        self.past = History(thresholds)
        self._rules = tuple(rules)
        self._on_log: dict[tuple[str, int | None], tuple[tuple[Rule, LogLook], ...]] = {}
        self._on_failed_gpu = [
            (rule, rule.on_failed_gpu) for rule in self._rules if rule.on_failed_gpu is not None
        ]
        self._on_job = [(rule, rule.on_job) for rule in self._rules if rule.on_job is not None]
        self._windows = maintenance
        self._book = Casebook(interval_s, maintenance)
        self._moment = Moment()
        self._wanted: list[float] = []

    # --- what comes in --------------------------------------------------------------------------

    def meet(self, sample: NodeSample) -> None:
        """Learn which GPUs there are, without judging yet: the log may be older than they are."""
        self._settle()
        self._book.host = sample.host
        self._book.now_s = max(self._book.now_s, sample.time_s)
        self.past.add_sample(sample)

    def sample(self, sample: NodeSample) -> None:
        """Look at a sample. A GPU that does not answer has no readings in it, only its code."""
        self.meet(sample)
        time_s = sample.time_s
        self._wanted = [at_s for at_s in self._wanted if at_s > time_s]
        seen: set[CaseKey] = set()
        for rule in self._rules:
            if rule.on_sample is not None:
                seen |= self._see(rule, rule.on_sample(sample, self.past), time_s)
        self._count_failures()
        self._book.absent(seen, time_s)
        self._book.pass_time(time_s)

    def unchanged(self, times_s: Iterable[float]) -> None:
        """Samples of these times were not taken: they would have been like the last one."""
        self._settle()
        count = self.past.add_unchanged(times_s)
        if count:
            self._book.goes_on(self.past.samples[-1].time_s, count)

    def failed(self, sample: NodeSample) -> None:
        """The driver as a whole gave no answer. What was so of its GPUs is neither confirmed nor
        over.
        """
        self._settle()
        self._book.host = sample.host
        self._book.now_s = max(self._book.now_s, sample.time_s)
        for rule in self._rules:
            if rule.on_failure is not None:
                self._see(rule, rule.on_failure(sample, self.past), sample.time_s)
        self._book.pass_time(sample.time_s)

    def silent(self, time_s: float, silence: Silence, last: NodeSample) -> None:
        """No sample comes. What was so in the last one is neither confirmed nor over."""
        self._settle()
        for rule in self._rules:
            if rule.on_silence is not None:
                self._see(rule, rule.on_silence(silence, last, self.past), time_s)
        self._book.pass_time(time_s)

    def log(self, event: KernelEvent) -> None:
        """Hear an event of the kernel log. It may be older than the last sample."""
        self._hear(event)

    def log_again(self, event: KernelEvent, told: KernelEvent) -> None:
        """The same as ``told``, in the kernel's own words: better evidence, but not one more."""
        self._hear(event, told)

    def job(self, event: JobEvent) -> None:
        """Hear an event of a job's log. It may be older than the last sample."""
        self._hear(event)

    def pass_time(self, time_s: float) -> None:
        """Clear what has been quiet for long enough, and forget what cleared long ago."""
        self._settle()
        self._book.pass_time(time_s)

    def acknowledge(self, incident_id: str) -> bool:
        """Mark an open incident as seen by somebody; False if there is none of this id."""
        self._settle()
        return self._book.acknowledge(incident_id)

    def snooze(self, incident_id: str, until_s: float) -> bool:
        """Let nobody be called for an open incident until a time, or until it becomes graver.

        It is a week at most. False if there is no open incident of this id.
        """
        self._settle()
        return self._book.snooze(incident_id, until_s)

    def rename(self, subjects: Mapping[str, Subject]) -> None:
        """Go on with the GPUs under their proper names: it has turned out who they are."""
        self._settle()
        self._book.rename(subjects)

    def recall(self, saved: Iterable[SavedIncident]) -> None:
        """Have incidents open again that were open when this node was last watched.

        Noticed again, each goes on as what it was; otherwise it clears as if it had been watched.
        """
        self._settle()
        by_readings_last = sorted(self._rules, key=lambda rule: rule.on_sample is not None)
        self._book.recall({rule.kind: rule for rule in by_readings_last}, saved)

    # --- what comes out -------------------------------------------------------------------------

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """The open ones, worst first, then newest; children follow their parent."""
        self._settle()
        self._book.link()
        found = [case.incident for case in self._book.open_cases if case.incident]
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
        self._settle()
        return self._book.cleared

    @property
    def saved(self) -> tuple[SavedIncident, ...]:
        """The open ones, to be recalled at another time."""
        self._settle()
        found = (saved(case) for case in self._book.open_cases)
        return tuple(one for one in found if one is not None)

    @property
    def last_noticed_s(self) -> dict[str, float]:
        """When each of the open ones was last noticed, by their ids."""
        self._settle()
        return {
            case.incident.id: case.last_s
            for case in self._book.open_cases
            if case.incident is not None
        }

    @property
    def undecided(self) -> bool:
        """Whether something is noticed that has not yet held for long enough to be an incident."""
        return self._book.undecided

    @property
    def next_look_s(self) -> float | None:
        """When a sample may next change something although nothing happens; None for never."""
        self._settle()
        due = [*self._wanted]
        if self._book.due_s is not None:
            due.append(self._book.due_s)
        now_s = self._book.now_s
        due += [edge for one in self._windows if (edge := one.next_s(now_s)) is not None]
        return min(due, default=None)

    def changes(self) -> list[Incident]:
        """The incidents that opened, changed or cleared since the last call, each as it is now."""
        self._settle()
        self._book.link()
        return self._book.changes()

    # --- events ---------------------------------------------------------------------------------

    def _hear(self, event: KernelEvent | JobEvent, told: KernelEvent | None = None) -> None:
        """Keep an event until all of its moment have come: they are judged together."""
        if not self._moment.takes(event):
            self._settle()
        self._moment.add(event, told)

    def _settle(self) -> None:
        """Judge the events of the last moment: all are known to each rule, in whichever order they
        came, and what ends something comes after what begins it.
        """
        heard = self._moment.take()
        if not heard:
            return
        for event, told in heard:
            if isinstance(event, JobEvent):
                self.past.add_job_event(event)
            else:
                self.past.add_event(event, instead_of=told)
        over: list[tuple[Rule, Over]] = []
        for event, told in heard:
            for rule, noticed in self._heard(event):
                for one in noticed:
                    if isinstance(one, Finding):
                        times = event.times if isinstance(event, KernelEvent) else 1
                        self._happened(rule, one, event.time_s, count=0 if told else times)
                    elif isinstance(one, Over):
                        over.append((rule, one))
                    else:
                        self._want(one)
        for rule, one in over:
            self._book.over(rule, one.subject, heard[0][0].time_s)
        self._count_failures()

    def _heard(self, event: KernelEvent | JobEvent) -> Iterable[tuple[Rule, Iterable[Noticed]]]:
        """What each rule makes of an event."""
        if isinstance(event, JobEvent):
            return ((rule, look(event, self.past)) for rule, look in self._on_job)
        return ((rule, look(event, self.past)) for rule, look in self._that_hear(event))

    def _that_hear(self, event: KernelEvent) -> tuple[tuple[Rule, LogLook], ...]:
        """The rules that want to see an event."""
        sort = event.kind, event.code
        found = self._on_log.get(sort)
        if found is None:
            if len(self._on_log) >= _MOST_SORTS:
                self._on_log.clear()
            found = self._on_log[sort] = tuple(
                (rule, rule.on_log)
                for rule in self._rules
                if rule.on_log is not None and rule.looks_at(event)
            )
        return found

    def _happened(self, rule: Rule, finding: Finding, time_s: float, count: int) -> None:
        """One that an incident covers is one more of that."""
        covering = self._book.coverer(rule, finding)
        if covering is not None:
            finding = replace(covering, evidence=finding.evidence)
        self._book.happened(rule, finding, time_s, count)

    # --- samples --------------------------------------------------------------------------------

    def _see(self, rule: Rule, noticed: Iterable[Noticed], time_s: float) -> set[CaseKey]:
        """What a rule noticed that is so now; the cases that it concerns.

        What another finding covers is no case of its own, unless it is one already.
        """
        seen = set()
        findings: list[Finding] = []
        for one in noticed:
            if isinstance(one, Finding):
                findings.append(one)
            elif isinstance(one, Over):
                self._book.over(rule, one.subject, time_s)
            else:
                self._want(one)
        covered = {(name, one.key) for one in findings for name in one.covers}
        for one in findings:
            is_covered = not one.covers and (one.subject.name, one.key) in covered
            if not is_covered or self._book.is_open(rule, one):
                seen.add(self._book.holds(rule, one, time_s))
        return seen

    def _count_failures(self) -> None:
        """Remember which GPUs have just failed, and let rules look at each."""
        for incident, time_s in self._book.take_grave():
            if not self.past.failures.note(incident, time_s):
                continue
            for rule, look in self._on_failed_gpu:
                for finding in look(incident, time_s, self.past):
                    self._book.happened(rule, finding, time_s, count=1)

    def _want(self, look: LookAgain) -> None:
        self._wanted.append(look.at_s)
        if len(self._wanted) > MOST_WANTED:
            self._wanted = sorted(set(self._wanted))[:MOST_WANTED]
