"""One thing that a rule noticed on one subject: the life of an incident, before, during and after.

And how it is remembered between two runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from operator import attrgetter

from gputui.incidents.rule import Cause, Finding, Rule, Span, Subject
from gputui.model import Action, Incident, Severity
from gputui.revision import reviser

revised = reviser(Incident)
"""An incident with some of it changed."""

CaseKey = tuple[str, str, str]
"""An incident's kind, its subject, and what tells several of a kind on one subject apart."""


@dataclass(frozen=True, slots=True)
class Advice:
    """How grave an incident is, and what to do."""

    severity: Severity
    action: Action
    action_text: str


@dataclass(slots=True)
class Case:
    """``since_s`` begins the present run of findings, ``looks`` counts them in it.

    ``last_s`` is when it was last noticed, ``absent_s`` since when it no longer is. ``over_s`` is
    when a rule said that it was over; ``cause_before`` is the id of the incident that explained it
    in an earlier run. ``lent`` is what it is shown with in place of its own advice, because of what
    hangs under it. ``number`` counts the cases of a node in the order in which they came.
    """

    rule: Rule
    finding: Finding
    since_s: float
    last_s: float
    looks: int = 0
    absent_s: float | None = None
    incident: Incident | None = None
    over_s: float | None = None
    cause_before: str | None = None
    lent: Advice | None = None
    number: int = 0
    _under: tuple[str | Cause, ...] = ()
    _elsewhere: tuple[Cause, ...] = ()

    @property
    def elsewhere(self) -> tuple[Cause, ...]:
        """Its possible causes that are looked for on other subjects than its own."""
        under = self.finding.under
        if under is not self._under:
            self._under = under
            self._elsewhere = tuple(
                cause for cause in under if not isinstance(cause, str) and cause.on is not None
            )
        return self._elsewhere

    @property
    def key(self) -> CaseKey:
        """What tells it from all others."""
        return self.rule.kind, self.finding.subject.name, self.finding.key

    @property
    def is_open(self) -> bool:
        """Whether it is an incident now."""
        incident = self.incident
        return incident is not None and incident.cleared_s is None

    @property
    def is_seen(self) -> bool:
        """Whether readings showed it when they were last looked at."""
        return self.rule.on_sample is not None and self.absent_s is None

    @property
    def is_undecided(self) -> bool:
        """Whether it is noticed, and has not yet held for long enough."""
        return self.is_seen and not self.is_open

    def is_long_over(self, time_s: float, within_s: float) -> bool:
        """Whether its incident cleared so long ago that it would not be reopened."""
        cleared_s = self.incident.cleared_s if self.incident else None
        return cleared_s is not None and time_s - cleared_s > within_s

    @property
    def quiet_since_s(self) -> float | None:
        """Since when it has not been noticed; None while it is so."""
        if self.is_seen:
            return None
        return self.last_s if self.rule.is_of_events else self.absent_s

    @property
    def matters(self) -> tuple[bool, int, float]:
        """How much, to be compared: open before cleared, grave before mild, late before early."""
        return self.is_open, self.finding.severity or self.rule.severity, self.last_s

    @property
    def evidence(self) -> tuple[str, ...]:
        """What its incident was told with so far."""
        return () if self.incident is None else self.incident.evidence

    @property
    def parent(self) -> str | None:
        """The id of the incident that its own hangs under."""
        return None if self.incident is None else self.incident.parent

    @property
    def holds(self) -> Span:
        """For how long it has to be noticed to become one."""
        return self.finding.holds or self.rule.holds

    @property
    def clears(self) -> Span:
        """For how long it has to be gone to be over."""
        return self.finding.clears or self.rule.clears


def opened(case: Case, host: str, pieces: tuple[str, ...]) -> Incident:
    """The incident that a case becomes, told with some evidence."""
    finding, rule = case.finding, case.rule
    opened_s = case.since_s
    if finding.since_s is not None:
        opened_s = min(opened_s, finding.since_s)
    gpu = finding.subject.gpu
    whom = finding.subject.name if gpu is None else f"gpu{gpu}"
    kind = f"{rule.kind}-{finding.key}" if finding.key else rule.kind
    return Incident(
        id=f"{host}/{whom}/{kind}/{opened_s:.0f}",
        kind=rule.kind,
        subject=finding.subject.name,
        host=host,
        severity=_severity(case),
        opened_s=opened_s,
        cause=finding.cause,
        cause_text=finding.cause_text,
        action=finding.action,
        action_text=finding.action_text,
        gpu=gpu,
        evidence=pieces,
    )


def with_own_id(incident: Incident, others: Iterable[Incident]) -> Incident:
    """The incident with an id that no other thing has.

    A GPU may be known by its address first and by its UUID a moment later, or another one may stand
    at its index.
    """
    is_taken = any(
        other.id == incident.id and other.subject != incident.subject for other in others
    )
    return revised(incident, id=f"{incident.id}/{incident.subject}") if is_taken else incident


def updated(
    before: Incident, case: Case, pieces: tuple[str, ...], time_s: float, count: int
) -> Incident:
    """An open incident as it is after its case was noticed once more."""
    finding = case.finding
    opened_s = min(before.opened_s, time_s)
    if finding.since_s is not None:
        opened_s = min(opened_s, finding.since_s)
    return revised(
        advised(before, case),
        opened_s=opened_s,
        count=before.count + count,
        cause=finding.cause,
        cause_text=finding.cause_text,
        gpu=before.gpu if finding.subject.gpu is None else finding.subject.gpu,
        evidence=pieces,
        eased_s=None,
    )


def advised(before: Incident, case: Case) -> Incident:
    """An open incident with the advice of its case, or what is lent to that.

    One that has become graver wants to be looked at again, whoever has seen it.
    """
    lent, told = case.lent, case.finding
    if lent is None:
        advice = (_severity(case), told.action, told.action_text)
    else:
        advice = (lent.severity, lent.action, lent.action_text)
    if advice == (before.severity, before.action, before.action_text):
        return before
    severity, action, action_text = advice
    graver = severity > before.severity
    return revised(
        before,
        severity=severity,
        action=action,
        action_text=action_text,
        acknowledged=before.acknowledged and not graver,
        snoozed_until_s=None if graver else before.snoozed_until_s,
    )


def own_advice(case: Case) -> Advice:
    """What a case's own finding says."""
    return Advice(_severity(case), case.finding.action, case.finding.action_text)


_NO_NEWS = ("cause_text", "action_text", "evidence")
_news_of = attrgetter(*(one.name for one in fields(Incident) if one.name not in _NO_NEWS))


def is_news(before: Incident, after: Incident) -> bool:
    """Whether a change is worth telling: new words and readings alone would come every second."""
    return before.count != after.count or bool(_news_of(before) != _news_of(after))


def _severity(case: Case) -> Severity:
    own = case.finding.severity
    return case.rule.severity if own is None else own


@dataclass(frozen=True, slots=True)
class SavedIncident:
    """An incident that was open at the end of a run, and what the engine knew of it.

    ``key`` tells it from others of its kind on its subject; ``last_s`` is when it was last noticed
    (Unix time); it clears after ``clears_s`` seconds and ``clears_samples`` samples of quiet;
    ``under`` are the kinds that are its cause if they are open on the same subject.
    """

    incident: Incident
    key: str = ""
    last_s: float = 0.0
    clears_s: float = 0.0
    clears_samples: int = 1
    under: tuple[str, ...] = ()


def saved(case: Case) -> SavedIncident | None:
    """An open case, to be recalled at another time."""
    if case.incident is None:
        return None
    return SavedIncident(
        case.incident,
        key=case.finding.key,
        last_s=case.last_s,
        clears_s=case.clears.seconds,
        clears_samples=case.clears.samples,
        under=tuple(cause for cause in case.finding.under if isinstance(cause, str)),
    )


def recalled(rule: Rule, one: SavedIncident) -> Case:
    """The case of an incident that was open: not noticed since, but not over either."""
    incident = one.incident
    finding = Finding(
        Subject(incident.subject, incident.gpu),
        cause=incident.cause,
        cause_text=incident.cause_text,
        action=incident.action,
        action_text=incident.action_text,
        key=one.key,
        under=one.under,
        severity=incident.severity,
        clears=Span(one.clears_s, one.clears_samples),
    )
    return Case(
        rule,
        finding,
        since_s=incident.opened_s,
        last_s=one.last_s,
        absent_s=one.last_s,
        cause_before=incident.parent,
        incident=revised(
            incident,
            parent=None,
            children=(),
            eased_s=None if rule.on_sample is None else one.last_s,
        ),
    )
