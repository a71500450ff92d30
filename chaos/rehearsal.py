"""A drill with the operator's own runbook in it: a real process, in virtual time.

Two worlds take turns. While the runbook works, the run's clock stands still; when every process of
it sleeps, and waits for something that only time brings (a ``sleep``, a command that takes its
while, NVML that does not answer yet), the clock jumps to whatever comes first.

A runbook that sleeps by this machine's clock, which no look-alike sees, is waited for in real time,
and the verdict on it is unknown: its times are not the run's.
"""

from __future__ import annotations

import itertools
import os
import selectors
import time
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from chaos.barrier import Barrier
from chaos.drill import Drill
from chaos.fleet import build_world
from chaos.journal import Journal
from chaos.live import LiveNode
from chaos.lookalikes.under_way import UnderWay
from chaos.runbook_file import PLAYER
from chaos.scenario import Entry, Scenario
from chaos.selection import Gpus, Inventory, JobId, Nodes
from chaos.stage import Options, Stage
from chaos.terms import Runbook
from chaos.under_test import Started, UnderTest, command_of, environment, is_meant, words_of
from chaos.verdict import Result
from chaos.watching import Watching
from fakes.actions import Action, Effect
from fakes.clock import SECOND_US
from fakes.process import ProcessTable
from fakes.world import World
from gputui.model import Incident
from gputui.recording import incident_object

_UPTIME_S = 3 * 86_400.0
"""How long nodes have been up when a run begins."""

_STEP_US = SECOND_US
_REAL_STEP_S = 0.05
"""How long a runbook may wait for nothing of ours before its waiting counts as real time."""

_numbers = itertools.count()


class Rehearsal(Drill):
    """One run of a scenario that has a runbook."""

    def __init__(self, scenario: Scenario, journal: Journal, runbook: Runbook) -> None:
        self._runbook = runbook
        self._stack = ExitStack()
        names = nodes_with_processes(scenario, runbook)
        options = Options(name=f"test-{os.getpid()}-{next(_numbers)}", on=names[0])
        self._stage = Stage(
            scenario.given, options, runbook.words, self._stack, names, virtual=True
        )
        super().__init__(scenario, journal)
        self._clock = _WorldClock(self.world)
        self._live = {
            name: self._stage.equip(
                self.world.nodes[name],
                self._run,
                self._clock,
                uptime_s=_UPTIME_S,
                told=partial(self._note_call, name),
                held=True,
            )
            for name in names
        }
        self._waiting: deque[Incident] = deque()
        self._started: set[str] = set()
        self._under_test: UnderTest | None = None
        self._selector = selectors.DefaultSelector()
        self._barriers = {name: self._barrier(name) for name in names}
        self._calls = 0

    def build_world(self) -> World:
        """The world, with real processes on the nodes that programs can run on."""
        hosts = self._stage.hosts
        return build_world(
            self.scenario.given,
            seed=self.scenario.seed,
            host_of=lambda name: hosts.get(name) or ProcessTable(),
        )

    def run(self) -> Result:
        """Run it; whatever happens, nothing is left of it on this machine."""
        with self._stack:
            if not self._stage.outcome.contained:
                self._run.problems.append(
                    f"the runbook is not started: it would be {self._stage.outcome.sentence()}."
                )
            return super().run()

    # --- taking turns -----------------------------------------------------------------------------

    def _pass_time(self, watching: Watching, end_us: int) -> None:
        with self._selector:
            self._register()
            try:
                while self.world.now_us < end_us and not self._is_over():
                    self._settle()
                    self._jump(watching, end_us)
            finally:
                self._end_runbook()
                self._unregister()

    def _is_over(self) -> bool:
        if self._calls > self.scenario.terms.stop.calls:
            self._doubt(f"the runbook called more than {self.scenario.terms.stop.calls} commands")
            return True
        busy = self._under_test is not None or bool(self._waiting)
        begun = self.world.now_us > self.scenario.begins_us and not self._is_waiting
        return begun and not busy and self._bench.is_decided(self.world.now_us)

    def _jump(self, watching: Watching, end_us: int) -> None:
        """Let time pass until the next moment at which somebody is to go on."""
        dues_us = [end_us, self.world.now_us + _STEP_US, self.world.next_us()]
        for live in self._live.values():
            if live.commands is not None:
                dues_us.append(live.commands.next_due_us())
            if live.surface is not None:
                dues_us.append(live.surface.next_due_us() or end_us)
        for live in self._live.values():
            live.look()
        before_us = self.world.now_us
        watching.until(max(min(dues_us), before_us))
        self._show(happened=True)
        self._end_on_a_node_that_went_down()
        self._note_incidents(watching)
        self._look()
        self._start_runbook()

    def _show(self, *, happened: bool) -> None:
        """Let calls go on that are due, and show everybody what they changed."""
        now_us = self.world.now_us
        self._note_exits()
        changed = self._run.advance(now_us) or happened
        self._refresh_files(now_us)
        acted = False
        for live in self._live.values():
            commands = live.commands
            if commands is not None and commands.advance(now_us, happened=changed or acted):
                self.world.touch(live.node.name)
                acted = True
        if acted:
            for live in self._live.values():
                live.files.refresh()
        changed = changed or acted
        for live in self._live.values():
            if live.surface is not None:
                live.surface.publish(now_us, happened=changed)
        for live in self._live.values():
            if live.commands is not None:
                live.commands.settle()

    def _refresh_files(self, now_us: int) -> None:
        """Bring the nodes' files up to date where somebody is about to go on, and may look."""
        for live in self._live.values():
            if live.commands is not None and live.commands.next_due_us() <= now_us:
                live.files.refresh()

    def _settle(self) -> None:
        """Serve the runbook until only time can bring it on."""
        began_s = still_s = time.monotonic()
        while self._under_test is not None:
            served = self._serve(0.0)
            if self._has_ended():
                return
            now_s = time.monotonic()
            if served or not self._barriers[self._under_test.started.node].is_quiet:
                still_s = now_s
            elif self._serve(0.0):
                continue
            elif self._begin_held():
                return
            elif self._is_parked:
                self._doubt_timeouts()
                return
            elif now_s - still_s >= _REAL_STEP_S:
                self._doubt("the runbook waits by this machine's clock, and not by the run's")
                return
            if now_s - began_s >= self.scenario.terms.stop.wall_s:
                self._doubt(f"the runbook made no progress in {now_s - began_s:.0f} real seconds")
                self._end_runbook()
                return

    def _doubt_timeouts(self) -> None:
        """A time-out of the script's own does not fire while the clock jumps.

        Ansible's programs look every so often whether something has come, with a time-out that
        means nothing.
        """
        under_test = self._under_test
        if under_test is None or Path(under_test.started.words[0]).name == PLAYER:
            return
        if self._barriers[under_test.started.node].somebody_wakes_by_itself:
            self._doubt(
                "the runbook has a time-out by this machine's clock while a command of it waits by "
                "the run's: which comes first is not known"
            )

    def _serve(self, wait_s: float) -> bool:
        """Do what programs ask for; whether any did."""
        ready = self._selector.select(wait_s)
        for key, _ in ready:
            key.data()
        if ready:
            self._show(happened=False)
        return bool(ready)

    def _begin_held(self) -> bool:
        begun = False
        for live in self._live.values():
            if live.commands is not None:
                begun = live.commands.begin_held(self.world.now_us) or begun
        return begun

    @property
    def _is_parked(self) -> bool:
        """Whether somebody waits for the run's clock."""
        return any(
            live.commands is not None and live.commands.parked for live in self._live.values()
        )

    # --- the runbook ------------------------------------------------------------------------------

    def _incident_told(self, incident: Incident) -> None:
        """Every incident that the runbook is for starts it once."""
        if is_meant(self._runbook, incident) and incident.id not in self._started:
            self._started.add(incident.id)
            self._waiting.append(incident)

    def _start_runbook(self) -> None:
        if self._under_test is not None or not self._waiting:
            return
        if not self._stage.outcome.contained:
            self._waiting.clear()
            return
        incident = self._waiting.popleft()
        node = self._runbook.on or incident.host
        if node not in self._live:
            self._doubt(f"the runbook cannot run on {node}: no fault of the timeline names it")
            return
        words = tuple(command_of(self._runbook, incident))
        started = Started(incident.id, node, words)
        shown = words_of(words, self._runbook.folder)
        facts = {"node": node, "argv": shown, "incident": incident.id}
        self.journal.write(self.world.now_us, "runbook", facts)
        entrance, variables = self._stage.entrance(
            node, words, environment(os.environ, incident_object(incident))
        )
        self._live[node].files.refresh()
        self._under_test = UnderTest(
            started, entrance, variables, self._runbook.folder, self._selector
        )

    def _has_ended(self) -> bool:
        if self._under_test is None:
            return True
        status = self._under_test.poll()
        if status is None:
            return False
        self._note_end(status)
        return True

    def _end_on_a_node_that_went_down(self) -> None:
        """A runbook that reboots its own node does not live to see it."""
        under_test = self._under_test
        if under_test is not None and not self.world.nodes[under_test.started.node].is_up:
            self._end_runbook()

    def _end_runbook(self) -> None:
        """It is not wanted any more."""
        if self._under_test is not None and not self._has_ended():
            self._note_end(None)

    def _note_end(self, status: int | None) -> None:
        under_test, self._under_test = self._under_test, None
        if under_test is None:
            return
        under_test.close()
        self.output += bytes(under_test.output)
        started = under_test.started
        facts: dict[str, Any] = {
            "node": started.node,
            "argv": words_of(started.words, self._runbook.folder),
            "incident": started.incident,
            "exit": status,
        }
        self.journal.write(self.world.now_us, "runbook", facts)

    # --- the machine's side -----------------------------------------------------------------------

    def _register(self) -> None:
        for live in self._live.values():
            self._selector.register(
                live.host, selectors.EVENT_READ, partial(self._note_exits_of, live)
            )
            for service in (live.surface, live.commands):
                if service is not None:
                    service.register(self._selector)

    def _unregister(self) -> None:
        for live in self._live.values():
            for service in (live.surface, live.commands):
                if service is not None:
                    service.unregister()

    def _barrier(self, name: str) -> Barrier:
        live = self._live[name]
        proc = Path(f"/proc/{live.host.init_pid}/root/proc")
        return Barrier(proc, lambda: (1, *live.node.pids))

    def _note_exits(self) -> None:
        for live in self._live.values():
            if live.host.pending:
                self._note_exits_of(live)

    def _note_exits_of(self, live: LiveNode) -> None:
        """Ranks ended. One that the world still has was killed from within the node."""
        for pid in live.host.exited():
            process = live.node.processes.get(pid)
            now_us = self.world.now_us
            if process is None:
                live.node.process_ended(pid, now_us)
                continue
            spec = process.spec
            live.node.actions.note(
                Action(now_us, Effect.KILL, live.node.name, spec.gpu, spec.job or None)
            )
            live.node.process_ended(pid, now_us)

    def _note_call(self, node: str, call: UnderWay) -> None:
        argv = words_of(call.words, self._runbook.folder)
        if call.status is None:
            self._calls += 1
            self.journal.write(self.world.now_us, "call", {"node": node, "argv": argv})
        else:
            facts = {"node": node, "argv": argv, "exit": call.status}
            self.journal.write(self.world.now_us, "return", facts)

    def _doubt(self, why: str) -> None:
        if why not in self._run.problems:
            self._run.problems.append(why)


class _WorldClock:
    """The run's clock, which the world is."""

    def __init__(self, world: World) -> None:
        self._world = world

    def now_us(self) -> int:
        """Microseconds since the run began."""
        return self._world.now_us


def nodes_with_processes(scenario: Scenario, runbook: Runbook) -> tuple[str, ...]:
    """The nodes that the runbook may run on: its own, else those that something happens to."""
    inventory = scenario.given.inventory
    if runbook.on is not None:
        return (runbook.on,)
    named = dict.fromkeys(
        name for entry in scenario.timeline for name in _nodes_of(entry, inventory)
    )
    return tuple(named) or inventory.nodes[:1]


def _nodes_of(entry: Entry, inventory: Inventory) -> Sequence[str]:
    found: list[str] = []
    what = entry.what
    for name in getattr(what, "__dataclass_fields__", ()):
        value = getattr(what, name)
        if isinstance(value, Gpus):
            found += (node for node, _ in value.resolve(inventory))
        elif isinstance(value, Nodes):
            found += value.resolve(inventory)
        elif isinstance(value, JobId):
            found += inventory.nodes[:1]
    return found
