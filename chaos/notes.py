"""What happens in a run, written into its journal as it happens.

A drill in virtual time and a game day by the host's clock write the same lines, so that one verdict
and one report read both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from chaos.condition import State
from chaos.fault import described, type_of
from chaos.journal import Journal
from chaos.judging.told import write_start
from chaos.run import Active, Run
from chaos.scenario import Scenario
from chaos.virtual.watching import Told, Watching
from fakes.actions import Action
from fakes.jobs.log import JobLine
from fakes.node import Node
from fakes.system.kernel_log import KernelLine
from fakes.world import World
from gputui.recording import incident_object

AGAIN_US = 60_000_000
"""So long after it was written what is wrong with a state is written again."""


class Notes:
    """Takes notes of a run: of its start, and of what happens while :meth:`taken`."""

    def __init__(self, run: Run, journal: Journal) -> None:
        self._run = run
        self._journal = journal
        self._told = 0

    def start(self, scenario: Scenario, *, live: bool = False) -> None:
        """What runs here, and what is expected; ``live``: by the host's clock, with people."""
        write_start(self._journal, scenario, live=live)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Write what happens in the world as it happens."""
        world = self._run.world
        self._run.listen(self._fault, self._heal)
        world.cluster.actions.listen(self._action)
        for node in world.nodes.values():
            node.actions.listen(self._action)
        listeners = {
            node: (partial(self._line, node), partial(self._job_line, node))
            for node in world.nodes.values()
        }
        for node, (of_kernel, of_job) in listeners.items():
            node.kernel_log.listen(of_kernel)
            node.job_log.listen(of_job)
        try:
            yield
        finally:
            for node, (of_kernel, of_job) in listeners.items():
                node.kernel_log.unlisten(of_kernel)
                node.job_log.unlisten(of_job)

    def incidents(self, watching: Watching) -> tuple[Told, ...]:
        """What gputui has said since the last call."""
        told = tuple(watching.told[self._told :])
        self._told += len(told)
        for one in told:
            self._journal.write(one.at_us, "incident", {"incident": incident_object(one.incident)})
        return told

    def _fault(self, active: Active) -> None:
        facts: dict[str, Any] = {
            "id": active.id,
            "fault": type_of(active.fault).family,
            "arguments": described(active.fault),
        }
        self._journal.write(self._run.world.now_us, "fault", facts)

    def _heal(self, active: Active) -> None:
        self._journal.write(self._run.world.now_us, "heal", {"id": active.id})

    def _action(self, action: Action) -> None:
        facts: dict[str, Any] = {"action": action.effect.value}
        for name in ("node", "gpu", "job"):
            if getattr(action, name) is not None:
                facts[name] = getattr(action, name)
        facts |= {"ok": action.ok, "detail": action.detail}
        self._journal.write(action.at_us, "action", facts)

    def _line(self, node: Node, line: KernelLine) -> None:
        facts = {"node": node.name, "source": "kernel", "text": line.text}
        self._journal.write(line.at_us, "log", facts)

    def _job_line(self, node: Node, line: JobLine) -> None:
        facts = {"node": node.name, "source": line.job, "text": line.text}
        self._journal.write(line.at_us, "log", facts)


class States:
    """States of the world that somebody waits for: a line of the journal for each change.

    For as long as one does not hold, what is wrong with it is written again, if that has changed,
    at most every :data:`AGAIN_US`: whoever reads why it failed reads how it was at last.
    """

    def __init__(self, states: tuple[State, ...], world: World, journal: Journal) -> None:
        self._states = states
        self._world = world
        self._journal = journal
        self._broken: dict[str, str] = {}
        self._written: dict[str, tuple[str, int]] = {}

    def look(self) -> None:
        """Compare each with what it was."""
        for state in self._states:
            why = state.condition.broken(self._world)
            before = self._broken.get(state.text)
            if before is None or bool(before) != bool(why) or self._is_news(state.text, why):
                facts = {"state": state.text, "holds": not why, "why": why}
                self._journal.write(self._world.now_us, "state", facts)
                self._written[state.text] = (why, self._world.now_us)
            self._broken[state.text] = why

    def _is_news(self, text: str, why: str) -> bool:
        written, at_us = self._written[text]
        return why != written and self._world.now_us - at_us >= AGAIN_US
