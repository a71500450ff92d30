"""What a run is judged by: expectations, the runbook under test, and when it is over.

Read from the keys ``expect``, ``runbook``, ``stop`` and ``allow`` of a scenario, and ``steady`` of
what is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chaos.condition import State
from chaos.errors import Mistakes, ScenarioError, did_you_mean, quoted
from chaos.expectation import Expectation, ReadingContext, Timing, read_expectation
from chaos.expectations.exit import ExitExpected, ExitStatus
from chaos.expectations.incident import IncidentExpected
from chaos.expectations.started import StartExpected
from chaos.fleet import Given
from chaos.format.fields import Fields, items_of
from chaos.format.runbook_file import what_is_wrong
from chaos.format.templates import PLACES, unknown_places
from chaos.format.values import Count, Duration
from chaos.format.yaml_tree import Items, Table, Tree, Word, kind_of
from chaos.judging.matching import IncidentKind, incident_kinds
from chaos.selection import Inventory, Nodes, SelectionError

STOP_KEYS = ("after", "calls", "wall")
RUNBOOK_KEYS = ("run", "when", "args", "on", "exit")

_LONGEST_WITHOUT_DEADLINES_US = 600 * 1_000_000


@dataclass(frozen=True, slots=True)
class Runbook:
    """The program under test.

    ``words`` are its program and first arguments, the program a path below ``folder`` or a name;
    ``arguments`` are templates with ``{node}`` and ``{gpu}`` in them. It is started for each
    incident of one of the kinds in ``when``, of any kind of warning or worse if there are none, on
    the incident's node, or on ``on``.
    """

    words: tuple[str, ...]
    folder: Path
    when: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    on: str | None = None
    exit: int | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """When a run is given up. ``after_us`` is on the run's clock, ``wall_s`` real seconds without
    progress, ``calls`` how many commands a runbook may call.
    """

    after_us: int | None = None
    calls: int = 10_000
    wall_s: float = 60.0


@dataclass(frozen=True, slots=True)
class Terms:
    """Everything that a verdict needs. ``allow`` are kinds of incidents that may open besides."""

    expectations: tuple[Expectation, ...] = ()
    steady: tuple[State, ...] = ()
    runbook: Runbook | None = None
    stop: Stop = Stop()
    allow: frozenset[str] = frozenset()

    def timing(self, one: Expectation, begins_us: int, starts_us: dict[str, int]) -> Timing:
        """When an expectation begins and ends; ``begins_us`` is the first entry's moment."""
        from_us = begins_us if one.since is None else starts_us[one.since]
        deadline_us = None if one.within_us is None else from_us + one.within_us
        return Timing(from_us, deadline_us, one.hold_us)

    def end_us(self, timings: Sequence[Timing], last_us: int) -> int:
        """When the run is over at the latest: at ``stop``, or when the last deadline has passed.

        Without any deadline it is ten minutes after ``last_us``, the last entry of the timeline.
        """
        if self.stop.after_us is not None:
            return self.stop.after_us
        ends_us = [
            timing.deadline_us + timing.hold_us
            for timing in timings
            if timing.deadline_us is not None
        ]
        return max(ends_us, default=last_us + _LONGEST_WITHOUT_DEADLINES_US)

    def covers(self, inventory: Inventory, incident: dict[str, object]) -> bool:
        """Whether an incident is expected or allowed, so that its opening is no false page."""
        if incident["kind"] in self.allow:
            return True
        return any(
            one.expected.match(inventory).means(incident)
            for one in self.expectations
            if isinstance(one.expected, IncidentExpected)
        )


class TermsReader:
    """Reads the terms of a scenario file. Without an inventory no selection is checked."""

    def __init__(
        self,
        top: Fields,
        given: Given,
        inventory: Inventory | None,
        ids: Sequence[str] | None,
        folder: Path,
    ) -> None:
        self._top = top
        self._mistakes: Mistakes = top.mistakes
        fleet = given.fleet
        self._context = ReadingContext(
            inventory,
            None if ids is None else tuple(ids),
            top.mistakes,
            # Of a fleet that could not be read nobody knows that it has none.
            scheduler=inventory is None or fleet.scheduler is not None,
            memory_bytes=fleet.profile.memory.total_mib << 20,
        )
        self._folder = folder

    def read(self) -> Terms:
        """All of them; what has mistakes is left out, and noted."""
        runbook = self._runbook()
        return Terms(
            (*self._expectations(), *self._ending(runbook)),
            self._steady(),
            runbook,
            self._stop(),
            self._allow(),
        )

    def _expectations(self) -> tuple[Expectation, ...]:
        found = []
        items = items_of(self._top.get("expect"), "expect", self._mistakes)
        for position, item in enumerate(items, 1):
            with self._mistakes.noting():
                one = read_expectation(position, item, self._context)
                if one is not None:
                    found.append(one)
        return tuple(found)

    def _ending(self, runbook: Runbook | None) -> tuple[Expectation, ...]:
        """That the runbook starts, or ends as it says, is expected without being said again."""
        tree = self._top.get("runbook")
        if runbook is None or tree is None:
            return ()
        if runbook.exit is None:
            return (Expectation(0, tree.place, "{runbook: started}", StartExpected()),)
        expected = ExitExpected(ExitStatus(runbook.exit))
        return (Expectation(0, tree.place, f"{{runbook: {{exit: {runbook.exit}}}}}", expected),)

    def _steady(self) -> tuple[State, ...]:
        given = self._top.get("given")
        if not isinstance(given, Table):
            return ()
        found = []
        for item in items_of(given.get("steady"), "steady", self._mistakes):
            with self._mistakes.noting():
                state = State.read(item, "steady", self._context)
                if state is not None:
                    found.append(state)
        return tuple(found)

    def _allow(self) -> frozenset[str]:
        kinds = set()
        for item in items_of(self._top.get("allow"), "allow", self._mistakes):
            with self._mistakes.noting():
                kinds.add(IncidentKind.read(item, "allow", self._context).text)
        return frozenset(kinds)

    def _stop(self) -> Stop:
        tree, usual = self._top.get("stop"), Stop()
        if tree is None:
            return usual
        with self._mistakes.noting():
            fields = Fields(tree, STOP_KEYS, "stop", self._mistakes)
            after = fields.value("after", Duration, None)
            wall = fields.value("wall", Duration, None)
            return Stop(
                after.us if after else None,
                fields.value("calls", Count, Count(usual.calls)).number,
                wall.us / 1e6 if wall else usual.wall_s,
            )
        return usual

    def _runbook(self) -> Runbook | None:
        tree = self._top.get("runbook")
        if tree is None:
            return None
        before = len(self._mistakes)
        with self._mistakes.noting():
            fields = Fields(tree, RUNBOOK_KEYS, "runbook", self._mistakes)
            runbook = Runbook(
                self._words(fields),
                self._folder,
                self._kinds(fields.get("when")),
                self._arguments(fields.get("args")),
                self._node(fields),
                self._exit(fields.get("exit")),
            )
            return runbook if len(self._mistakes) == before else None
        return None

    def _exit(self, tree: Tree | None) -> int | None:
        return None if tree is None else ExitStatus.read(tree, "exit", self._context).number

    def _words(self, fields: Fields) -> tuple[str, ...]:
        tree = fields.get("run")
        if tree is None:
            fields.note_missing("run")
            return ()
        words = self._texts(tree, "run") if isinstance(tree, Items) else [self._text(tree, "run")]
        if not words:
            raise ScenarioError(tree.place, "run: expected a path, or a list of words.")
        if wrong := what_is_wrong(tuple(words), self._folder):
            raise ScenarioError(tree.place, wrong)
        return tuple(words)

    def _arguments(self, tree: Tree | None) -> tuple[str, ...]:
        arguments = []
        for one in self._list(tree):
            text = self._text(one, "args")
            for name in unknown_places(text):
                hint = did_you_mean(name, PLACES, "Known names")
                self._mistakes.add(
                    one.place, f"args: unknown name {quoted('{' + name + '}')}{hint}"
                )
            arguments.append(text)
        return tuple(arguments)

    def _kinds(self, tree: Tree | None) -> tuple[str, ...]:
        kinds = []
        if isinstance(tree, Items) and not tree.items:
            self._mistakes.add(tree.place, "when: the list is empty: leave it out for any kind.")
        for one in self._list(tree):
            if isinstance(one, Word) and one.text not in incident_kinds():
                hint = did_you_mean(one.text, incident_kinds(), "Known kinds")
                self._mistakes.add(one.place, f"unknown kind of incident {quoted(one.text)}{hint}")
            else:
                kinds.append(self._text(one, "when"))
        return tuple(kinds)

    def _node(self, fields: Fields) -> str | None:
        word, inventory = fields.word("on"), self._context.inventory
        if word is None:
            return None
        try:
            nodes = Nodes.parse(word.text).resolve(inventory) if inventory else (word.text,)
        except SelectionError as error:
            self._mistakes.add(word.place, f"on: {error}.", same=str(error))
            return None
        if len(nodes) != 1:
            self._mistakes.add(word.place, f"on: {quoted(word.text)} is more than one node.")
        return nodes[0]

    @staticmethod
    def _list(tree: Tree | None) -> tuple[Tree, ...]:
        if tree is None:
            return ()
        return tree.items if isinstance(tree, Items) else (tree,)

    def _texts(self, tree: Tree | None, name: str) -> list[str]:
        return [self._text(one, name) for one in self._list(tree)]

    @staticmethod
    def _text(tree: Tree, name: str) -> str:
        if not isinstance(tree, Word):
            raise ScenarioError(tree.place, f"{name}: expected a text, not {kind_of(tree)}.")
        return tree.text


def states_of(terms: Terms) -> tuple[State, ...]:
    """Every state that has to be watched, each once."""
    found = {state.text: state for state in terms.steady}
    for one in terms.expectations:
        for state in getattr(one.expected, "states", ()):
            found.setdefault(state.text, state)
    return tuple(found.values())
