"""A scenario in virtual time, from its first moment to its verdict.

The world breaks by the timeline; gputui watches it as it would watch a server (``watching.py``);
every line of what happens goes into the journal, and the bench reads that. Time jumps from one
moment at which something may happen to the next::

    result = drill(scenario)
    result.verdict
"""

from __future__ import annotations

from chaos.errors import ScenarioError, UsageError
from chaos.expectations.started import StartExpected
from chaos.fleet import build_world
from chaos.journal import Journal, TextOut
from chaos.judging.readings import Readings
from chaos.judging.told import write_verdict
from chaos.notes import Notes, States
from chaos.run import Run
from chaos.sandbox.host import NodeEndedError
from chaos.scenario import Scenario
from chaos.terms import states_of
from chaos.verdict import Bench, Result
from chaos.virtual.watching import Watching
from fakes.clock import SECOND_US
from fakes.world import World
from gputui.model import Incident

_STEP_US = SECOND_US
"""How often a state that changes by itself, a temperature say, is looked at."""


def check_testable(scenario: Scenario) -> None:
    """Refuse a scenario that would prove nothing."""
    if not scenario.timeline:
        raise ScenarioError(
            scenario.place_of("timeline"), "nothing breaks: a test needs a timeline."
        )
    if all(isinstance(one.expected, StartExpected) for one in scenario.terms.expectations):
        raise ScenarioError(
            scenario.place_of("expect"), "nothing is expected: a test needs 'expect'."
        )


def drill(scenario: Scenario, *, seed: int | None = None, out: TextOut | None = None) -> Result:
    """Run a scenario; its verdict. ``out`` gets the journal, line by line."""
    check_testable(scenario)
    return drill_of(scenario.seeded(seed), Journal(out)).run()


def drill_of(scenario: Scenario, journal: Journal) -> Drill:
    """A run of a scenario, with its runbook if it has one."""
    runbook = scenario.terms.runbook
    if runbook is None:
        return Drill(scenario, journal)
    from chaos.virtual.rehearsal import Rehearsal  # it stands on this module

    try:
        return Rehearsal(scenario, journal, runbook)
    except NodeEndedError as error:
        raise UsageError(
            f"the first process of a node ended while it was being set up ({error}): run it again."
        ) from error


class Drill:
    """One run of a scenario. ``output`` is what its runbook printed, ``interruption`` what
    cut it short.
    """

    def __init__(self, scenario: Scenario, journal: Journal) -> None:
        self.scenario = scenario
        self.journal = journal
        self.world = self.build_world()
        self._run = Run(self.world, scenario.timeline)
        self._bench = Bench(scenario)
        self._states = States(states_of(scenario.terms), self.world, journal)
        self._readings = Readings(scenario, self.world, journal)
        self._notes = Notes(self._run, journal)
        self.output = b""
        self.interruption: KeyboardInterrupt | None = None
        journal.listen(self._bench.see)

    def build_world(self) -> World:
        """The world at its start."""
        return build_world(self.scenario.given, seed=self.scenario.seed)

    def run(self) -> Result:
        """Run it; the verdict stands as the journal's last line, whatever ended the run."""
        scenario, bench = self.scenario, self._bench
        last_us = max(entry.at_us for entry in scenario.timeline)
        end_us = scenario.terms.end_us(bench.timings, last_us)
        self._notes.start(scenario)
        with self._notes.taken():
            self._look()
            with Watching(self._run, expected=scenario.given.expected_gpus) as watching:
                try:
                    self._pass_time(watching, end_us)
                except KeyboardInterrupt as interruption:
                    self.interruption = interruption
                    self._run.problems.append("the run was interrupted before its end")
            self._end()
        result = bench.result(self.world.now_us, self._run.problems)
        write_verdict(self.journal, self.world.now_us, result)
        return result

    def _pass_time(self, watching: Watching, end_us: int) -> None:
        begins_us = self.scenario.begins_us
        while self.world.now_us < end_us:
            happens_us = max(self.world.next_us(), self.world.now_us)
            watching.until(min(self.world.now_us + _STEP_US, happens_us, end_us))
            self._note_incidents(watching)
            self._look()
            now_us = self.world.now_us
            if now_us > begins_us and not self._is_waiting and self._bench.is_decided(now_us):
                return

    @property
    def _is_waiting(self) -> bool:
        """Whether an entry of the timeline is still to come."""
        return any(entry.at_us > self.world.now_us for entry in self.scenario.timeline)

    def _end(self) -> None:
        """Take everything back, and see whether what must hold holds again.

        What was expected is decided by now: healing mends what a runbook did not.
        """
        self.journal.write(self.world.now_us, "end", {})
        self._run.heal_all()
        self._run.advance(self.world.now_us)
        self._states.look()

    def _look(self) -> None:
        """Note what the world is like, as far as somebody asks."""
        self._states.look()
        self._readings.look()

    def _note_incidents(self, watching: Watching) -> None:
        for told in self._notes.incidents(watching):
            self._incident_told(told.incident)

    def _incident_told(self, incident: Incident) -> None:
        """An incident opened, changed or cleared."""
