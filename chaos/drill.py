"""A scenario in virtual time, from its first moment to its verdict.

The world breaks by the timeline; gputui watches it as it would watch a server (chaos/watching.py);
every line of what happens goes into the journal, and the bench reads that. Time jumps from one
moment at which something may happen to the next::

    result = drill(scenario)
    result.verdict
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from chaos.condition import State
from chaos.errors import UsageError
from chaos.expectations.started import StartExpected
from chaos.fault import described, type_of
from chaos.fleet import build_world
from chaos.journal import Journal, TextOut
from chaos.run import Active, Run
from chaos.scenario import Scenario
from chaos.terms import states_of
from chaos.verdict import Bench, Result
from chaos.watching import Watching
from fakes.actions import Action
from fakes.clock import SECOND_US
from fakes.kernel_log import KernelLine
from fakes.node import Node
from fakes.world import World
from gputui.model import Incident
from gputui.recording import incident_object

_STEP_US = SECOND_US
"""How often a state that changes by itself, a temperature say, is looked at."""


def check_testable(scenario: Scenario) -> None:
    """Refuse a scenario that would prove nothing."""
    place = f"{scenario.path}:1:1"
    if not scenario.timeline:
        raise UsageError(f"{place}: nothing breaks: a test needs a timeline.")
    if all(isinstance(one.expected, StartExpected) for one in scenario.terms.expectations):
        raise UsageError(f"{place}: nothing is expected: a test needs 'expect'.")


def drill(scenario: Scenario, *, seed: int | None = None, out: TextOut | None = None) -> Result:
    """Run a scenario; its verdict. ``out`` gets the journal, line by line."""
    check_testable(scenario)
    return drill_of(scenario.seeded(seed), Journal(out)).run()


def drill_of(scenario: Scenario, journal: Journal) -> Drill:
    """A run of a scenario, with its runbook if it has one."""
    runbook = scenario.terms.runbook
    if runbook is None:
        return Drill(scenario, journal)
    from chaos.rehearsal import Rehearsal  # it stands on this module

    return Rehearsal(scenario, journal, runbook)


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
        self._states = _States(states_of(scenario.terms), self.world, journal)
        self._told = 0
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
        self._note_start()
        with self._noting():
            self._states.look()
            with Watching(self._run) as watching:
                try:
                    self._pass_time(watching, end_us)
                except KeyboardInterrupt as interruption:
                    self.interruption = interruption
                    self._run.problems.append("the run was interrupted before its end")
            self._end()
        result = bench.result(self.world.now_us, self._run.problems)
        self.journal.write(self.world.now_us, "verdict", {"verdict": result.verdict.value})
        return result

    def _pass_time(self, watching: Watching, end_us: int) -> None:
        begins_us = self.scenario.begins_us
        while self.world.now_us < end_us:
            happens_us = max(self.world.next_us(), self.world.now_us)
            watching.until(min(self.world.now_us + _STEP_US, happens_us, end_us))
            self._note_incidents(watching)
            self._states.look()
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

    # --- the journal's lines ---------------------------------------------------------------------

    def _note_start(self) -> None:
        fleet = self.scenario.given.fleet
        facts = {
            "scenario": self.scenario.name,
            "seed": self.scenario.seed,
            "nodes": fleet.nodes,
            "gpus": fleet.gpus,
            "model": fleet.model,
        }
        self.journal.write(0, "start", facts)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Write what happens in the world as it happens."""
        self._run.listen(self._note_fault, self._note_heal)
        self.world.cluster.actions.listen(self._note_action)
        for node in self.world.nodes.values():
            node.actions.listen(self._note_action)
        listeners = {node: partial(self._note_line, node) for node in self.world.nodes.values()}
        for node, listener in listeners.items():
            node.kernel_log.listen(listener)
        try:
            yield
        finally:
            for node, listener in listeners.items():
                node.kernel_log.unlisten(listener)

    def _note_fault(self, active: Active) -> None:
        facts: dict[str, Any] = {
            "id": active.id,
            "fault": type_of(active.fault).family,
            "arguments": described(active.fault),
        }
        self.journal.write(self.world.now_us, "fault", facts)

    def _note_heal(self, active: Active) -> None:
        self.journal.write(self.world.now_us, "heal", {"id": active.id})

    def _note_action(self, action: Action) -> None:
        facts: dict[str, Any] = {"action": action.effect.value}
        for name in ("node", "gpu", "job"):
            if getattr(action, name) is not None:
                facts[name] = getattr(action, name)
        facts |= {"ok": action.ok, "detail": action.detail}
        self.journal.write(action.at_us, "action", facts)

    def _note_line(self, node: Node, line: KernelLine) -> None:
        facts = {"node": node.name, "source": "kernel", "text": line.text}
        self.journal.write(line.at_us, "log", facts)

    def _note_incidents(self, watching: Watching) -> None:
        for told in watching.told[self._told :]:
            self.journal.write(told.at_us, "incident", {"incident": incident_object(told.incident)})
            self._incident_told(told.incident)
        self._told = len(watching.told)

    def _incident_told(self, incident: Incident) -> None:
        """An incident opened, changed or cleared."""


class _States:
    """States of the world that somebody waits for: a line of the journal for each change."""

    def __init__(self, states: tuple[State, ...], world: World, journal: Journal) -> None:
        self._states = states
        self._world = world
        self._journal = journal
        self._broken: dict[str, str] = {}

    def look(self) -> None:
        """Compare each with what it was."""
        for state in self._states:
            why = state.condition.broken(self._world)
            before = self._broken.get(state.text)
            if before is None or bool(before) != bool(why):
                facts = {"state": state.text, "holds": not why, "why": why}
                self._journal.write(self._world.now_us, "state", facts)
            self._broken[state.text] = why
