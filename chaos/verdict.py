"""The verdict on a run: pass, fail, or unknown, by the journal alone.

Fail is an expectation that was not met, an incident that nobody expects (a false page), or a steady
state that did not come back. Unknown is what nobody can judge: a call that was not understood, a
sandbox that could not contain, a fault that could not be applied. Unknown is never green, and
outranks fail: what a script does after an answer that it did not get proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from chaos.expectation import Expectation, Judge, Outcome, Timing, Written
from chaos.journal import Record
from chaos.scenario import Scenario

PAGES = ("warning", "critical")
"""The severities that page somebody."""


class Verdict(str, Enum):
    """How a run came out."""

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"

    @property
    def exit_code(self) -> int:
        """What ``gpuchaos test`` ends with."""
        return {Verdict.PASS: 0, Verdict.FAIL: 1, Verdict.UNKNOWN: 2}[self]


@dataclass(frozen=True, slots=True)
class Judged:
    """An expectation, when it was to be met, and how it came out. ``waits`` is False for one of
    what is not to happen.
    """

    expectation: Written
    timing: Timing
    outcome: Outcome
    waits: bool = True


@dataclass(frozen=True, slots=True)
class Standing:
    """An expectation while the run goes on. ``outcome`` is None while it is open; ``waits`` says
    whether anything is to come that would decide it.
    """

    expectation: Expectation
    timing: Timing
    waits: bool
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class FalsePage:
    """An incident that opened and that nothing expects. ``line`` is the journal's."""

    kind: str
    subject: str
    at_us: int
    line: int


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict, and all that it rests on. ``unknown`` are sentences on what cannot be judged."""

    scenario: str
    seed: int
    verdict: Verdict
    judged: tuple[Judged, ...]
    false_pages: tuple[FalsePage, ...]
    unsteady: tuple[str, ...]
    unknown: tuple[str, ...]
    end_us: int


class Bench:
    """Judges a run while its journal is written, or one that was written before."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._inventory = scenario.inventory
        terms = scenario.terms
        self.timings = tuple(
            terms.timing(one, scenario.begins_us, scenario.starts_us) for one in terms.expectations
        )
        self._judges: tuple[Judge, ...] = tuple(
            one.expected.judge(timing, self._inventory)
            for one, timing in zip(terms.expectations, self.timings, strict=True)
        )
        self._pages: dict[str, FalsePage] = {}
        self._children: set[str] = set()
        self._unknown: list[str] = []
        self._unsteady: dict[str, str] = {}
        self._never_steady: dict[str, str] = {}
        self._steady = {state.text for state in terms.steady}
        self._parents: dict[str, str] = {}
        self._covered: set[str] = set()
        self._outcomes: tuple[Outcome, ...] | None = None

    def see(self, record: Record) -> None:
        """The next line of the journal."""
        if record.event == "end":
            self._outcomes = tuple(judge.at_end(record.at_us) for judge in self._judges)
        if self._outcomes is None:
            for judge in self._judges:
                judge.see(record)
        if record.event == "incident" and self._outcomes is None:
            self._page(record)
        elif record.event == "state" and record.facts["state"] in self._steady:
            if not record.facts["holds"] and record.at_us < self.scenario.begins_us:
                why = f"before anything broke: {record.facts['why']}"
                self._never_steady.setdefault(record.facts["state"], why)
            if record.facts["holds"]:
                self._unsteady.pop(record.facts["state"], None)
            else:
                self._unsteady[record.facts["state"]] = str(record.facts["why"])
        elif record.event == "unknown":
            self._unknown.append(str(record.facts["why"]))

    def is_decided(self, now_us: int) -> bool:
        """Whether nothing is worth waiting for any more.

        How often something happens is known at its deadline alone.
        """
        return all(
            timing.deadline_us is not None and timing.deadline_us + timing.hold_us < now_us
            for judge, timing in zip(self._judges, self.timings, strict=True)
            if judge.waits and judge.outcome(now_us) is None
        )

    def standing(self, now_us: int) -> tuple[Standing, ...]:
        """How each expectation stands by now."""
        decided: Sequence[Outcome | None] | None = self._outcomes
        if decided is None:
            decided = [judge.outcome(now_us) for judge in self._judges]
        waits = [judge.waits for judge in self._judges]
        return tuple(map(Standing, self.scenario.terms.expectations, self.timings, waits, decided))

    def result(self, end_us: int, unknown: Iterable[str] = ()) -> Result:
        """The verdict, now that the run is over."""
        terms = self.scenario.terms
        outcomes = self._outcomes or tuple(judge.at_end(end_us) for judge in self._judges)
        waits = [judge.waits for judge in self._judges]
        judged = tuple(map(Judged, terms.expectations, self.timings, outcomes, waits))
        pages = tuple(
            page for incident, page in self._pages.items() if not self._is_covered(incident)
        )
        never, not_again = self._never_steady.items(), self._unsteady.items()
        unsteady = tuple(f"{text}: {why}" for text, why in (*never, *not_again))
        doubts = tuple(dict.fromkeys([*self._unknown, *unknown]))
        verdict = Verdict.PASS
        if pages or unsteady or not all(one.outcome.ok for one in judged):
            verdict = Verdict.FAIL
        if doubts:
            verdict = Verdict.UNKNOWN
        return Result(
            self.scenario.name,
            self.scenario.seed,
            verdict,
            judged,
            pages,
            unsteady,
            doubts,
            end_us,
        )

    def _page(self, record: Record) -> None:
        incident = record.facts["incident"]
        identity = str(incident["id"])
        if incident["parent"] is not None:
            self._parents[identity] = str(incident["parent"])
        if self.scenario.terms.covers(self._inventory, incident):
            self._covered.add(identity)
        if incident["cleared_s"] is None and incident["severity"] in PAGES:
            subject = incident["subject"]
            if incident["gpu"] is not None:
                subject = f"{incident['host']}/{incident['gpu']}"
            page = FalsePage(incident["kind"], str(subject), record.at_us, record.number)
            self._pages.setdefault(identity, page)

    def _is_covered(self, identity: str) -> bool:
        """Whether an incident, or what it hangs under, is expected or allowed."""
        seen: set[str] = set()
        current: str | None = identity
        while current is not None and current not in seen:
            if current in self._covered:
                return True
            seen.add(current)
            current = self._parents.get(current)
        return False


def judge(scenario: Scenario, records: Iterable[Record]) -> Result:
    """The verdict by a journal that was written before."""
    bench = Bench(scenario)
    end_us = 0
    for record in records:
        bench.see(record)
        end_us = record.at_us
    return bench.result(end_us)
