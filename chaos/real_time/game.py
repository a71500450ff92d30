"""A game day: a scenario by the host's clock, noted and judged as people play it.

It stands between the live loop and the run. The loop lets time pass through :meth:`Game.advance`;
gputui watches, the journal gets every line, and the bench judges by those lines, as in a drill. A
facilitator asks for :meth:`Game.progress` by the control socket, gives hints, and holds the clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from chaos.errors import UsageError
from chaos.expectations.exit import ExitExpected
from chaos.expectations.started import StartExpected
from chaos.fault_parts.words import in_words
from chaos.journal import Journal
from chaos.judging.matching import incident_kinds
from chaos.judging.readings import Readings
from chaos.judging.score import Score, score
from chaos.judging.told import write_verdict
from chaos.lookalikes.under_way import UnderWay
from chaos.notes import Notes, States
from chaos.run import Run
from chaos.scenario import Entry, Heal, Scenario
from chaos.terms import states_of
from chaos.verdict import Bench, Result, Standing
from chaos.virtual.watching import Looks, Watching
from fakes.clock import SECOND_US
from fakes.world import World

_LOOKS_PER_S = 5
"""How often gputui looks in a second of the host's, at most: at ten times the pace, every 2 s."""

_MOST_RECORDS = 500


class Game:
    """One game. Between :meth:`played`'s beginning and its end it judges; ``result`` comes then."""

    def __init__(self, scenario: Scenario, world: World, journal: Journal, rate: float) -> None:
        self.scenario = scenario = _for_people(scenario)
        self.run = _Listened(world, scenario.timeline)
        self.journal = journal
        self.result: Result | None = None
        self._interval_us = max(SECOND_US, round(SECOND_US * rate / _LOOKS_PER_S))
        self._bench = Bench(scenario)
        self._states = States(states_of(scenario.terms), world, journal)
        self._readings = Readings(scenario, world, journal)
        self._notes = Notes(self.run, journal)
        self._watching: Watching | None = None
        self._looked_us = 0
        self._hints: set[int] = set()
        self._ended = False
        journal.listen(self._bench.see)

    @contextmanager
    def played(self) -> Iterator[None]:
        """Judge what happens inside."""
        world = self.run.world
        self._notes.start(self.scenario, live=True)
        with self._notes.taken():
            self._states.look()
            self._readings.look()
            looks = Watching(
                self.run,
                looks=Looks.POLLING,
                interval_us=self._interval_us,
                expected=self.scenario.given.expected_gpus,
            )
            with looks as self._watching:
                yield
            self._watching = None
        self.end()
        self.result = self._bench.result(world.now_us, self.run.problems)
        write_verdict(self.journal, world.now_us, self.result)

    @property
    def score(self) -> Score:
        """What it comes to so far."""
        now_us = self.run.world.now_us
        result = self.result or self._bench.result(now_us, self.run.problems)
        return score(result, self.journal.records)

    def advance(self, to_us: int) -> bool:
        """Let everything happen that is due, watching; True if anything did."""
        self.run.happened = False
        if self._watching is None:
            return self.run.advance(to_us)
        self._watching.until(to_us)
        self._notes.incidents(self._watching)
        if self.run.happened or to_us - self._looked_us >= SECOND_US:
            self._looked_us = to_us
            self._states.look()
            self._readings.look()
        return self.run.happened

    def called(self, node: str, call: UnderWay) -> None:
        """A look-alike was called on a node, or returns."""
        argv = [PurePath(call.words[0]).name, *call.words[1:]]
        facts: dict[str, Any] = {"node": node, "argv": argv}
        if call.status is None:
            self.journal.write(self.run.world.now_us, "call", facts)
        else:
            self.journal.write(self.run.world.now_us, "return", {**facts, "exit": call.status})

    def note(self, event: str) -> None:
        """The facilitator did something: ``pause``, ``resume``."""
        self.journal.write(self.run.world.now_us, event, {})

    def end(self) -> None:
        """What was expected is decided now; what comes later changes nothing."""
        if not self._ended:
            self._ended = True
            self.journal.write(self.run.world.now_us, "end", {})

    def hint(self) -> str:
        """What is expected next, in its own words. It is noted, and costs points."""
        now_us = self.run.world.now_us
        for one in self._bench.standing(now_us):
            position = one.expectation.position
            if one.waits and one.outcome is None and position not in self._hints:
                self._hints.add(position)
                text = f"expected next: {one.expectation.text}"
                self.journal.write(now_us, "hint", {"text": text})
                return text
        raise UsageError("there is no hint left: nothing more is expected.")

    def progress(self, after: int) -> dict[str, Any]:
        """How things stand, with the journal's lines after one of that number."""
        now_us = self.run.world.now_us
        now = self.score
        return {
            "scenario": self.scenario.name,
            "why": self.scenario.why,
            "now_s": now_us / SECOND_US,
            "ended": self._ended,
            "timeline": [self._entry_facts(entry) for entry in self.scenario.timeline],
            "expectations": [_expectation_facts(one) for one in self._bench.standing(now_us)],
            "points": now.points,
            "hints": len(self._hints),
            "records": [
                {"number": one.number, "t": one.at_us / SECOND_US, "event": one.event, **one.facts}
                for one in self.journal.records[after:][-_MOST_RECORDS:]
            ],
        }

    def _entry_facts(self, entry: Entry) -> dict[str, Any]:
        now_us = self.run.world.now_us
        what = entry.what
        text = f"heal {what.id}" if isinstance(what, Heal) else in_words(what)
        return {"at_s": entry.at_us / SECOND_US, "text": text, "came": entry.at_us <= now_us}


class _Listened(Run):
    """A run that remembers whether anything happened."""

    happened = False

    def advance(self, to_us: int) -> bool:
        happened = super().advance(to_us)
        self.happened |= happened
        return happened


def _for_people(scenario: Scenario) -> Scenario:
    """Without the runbook: people play its part, and nothing is expected of it. What a facilitator
    adds by hand is nobody's false page.
    """
    expectations = tuple(
        one
        for one in scenario.terms.expectations
        if not isinstance(one.expected, ExitExpected | StartExpected)
    )
    terms = replace(
        scenario.terms, expectations=expectations, runbook=None, allow=frozenset(incident_kinds())
    )
    return replace(scenario, terms=terms)


def _expectation_facts(one: Standing) -> dict[str, Any]:
    timing, outcome = one.timing, one.outcome
    deadline_us, measured_us = timing.deadline_us, outcome.measured_us if outcome else None
    return {
        "text": one.expectation.text,
        "from_s": timing.from_us / SECOND_US,
        "deadline_s": None if deadline_us is None else deadline_us / SECOND_US,
        "waits": one.waits,
        "ok": outcome.ok if outcome else None,
        "why": outcome.why if outcome else "",
        "measured_s": None if measured_us is None else measured_us / SECOND_US,
    }
