"""A drill with the operator's own runbook in it: a real process, in virtual time.

Two worlds take turns. While the runbook works, the run's clock stands still; when every process of
it sleeps, and waits for something that only time brings (a ``sleep``, a command that takes its
while, NVML that does not answer yet), the clock jumps to whatever comes first.

What a runbook leaves running when it ends lives on, as on a server, until the run is over; the
journal says so. A runbook that sleeps by this machine's clock, which nobody sees, is waited for in
real time, and the verdict on it is unknown: its times are not the run's.

It is long because the turns of the two worlds are told in one place, from first call to end.
"""

from __future__ import annotations

import itertools
import os
import shlex
import time
from collections import deque
from collections.abc import Collection, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from chaos.fleet import build_world
from chaos.format.runbook_file import PLAYER
from chaos.journal import Journal
from chaos.lookalikes.under_way import UnderWay
from chaos.lookalikes.waiting_line import WaitingLine
from chaos.real_time.stage import Options, Stage
from chaos.sandbox.host import NodeEndedError
from chaos.scenario import Scenario
from chaos.terms import Runbook
from chaos.verdict import Result
from chaos.virtual.drill import Drill
from chaos.virtual.grounds import Grounds
from chaos.virtual.nodes_in_play import nodes_with_processes
from chaos.virtual.rest import Rest
from chaos.virtual.under_test import Started, UnderTest, command_of, environment, is_meant, words_of
from chaos.virtual.watching import Watching
from fakes.clock import SECOND_US
from fakes.jobs.process import ProcessTable
from fakes.world import World
from gputui.model import Incident
from gputui.recording import incident_object

_UPTIME_S = 3 * 86_400.0
"""How long nodes have been up when a run begins."""

_STEP_US = SECOND_US
_REAL_STEP_S = 0.05
"""How long a runbook may wait for nothing of ours before its waiting counts as real time."""

_MOST_PROCESSES = 500
"""How many processes a runbook may have on a node at one time."""

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
        lines = {name: WaitingLine() for name in names}
        live = {
            name: self._stage.equip(
                self.world.nodes[name],
                self._run,
                self._clock,
                uptime_s=_UPTIME_S,
                told=partial(self._note_call, name),
                line=lines[name],
            )
            for name in names
        }
        self._waiting: deque[Incident] = deque()
        self._started: set[str] = set()
        self._under_test: UnderTest | None = None
        self._past: list[UnderTest] = []
        self._left: dict[str, list[str]] = {}
        """Nodes on which something runs on though the runbook has ended, and what, once told."""
        self._down: set[str] = set()
        self._grounds = Grounds(self._run, live, lines.values())
        self._names = names
        self._calls = 0
        self._is_given_up = False

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
        with self._grounds.selector:
            self._grounds.register()
            try:
                while self.world.now_us < end_us and not self._is_over():
                    self._settle()
                    self._jump(watching, end_us)
                if self._left and not self._is_given_up:
                    self._settle(is_last=True)
            except NodeEndedError:
                self._note_ended_nodes()
            finally:
                self._end_runbook()
                self._end_what_was_left()
                self._grounds.unregister()

    def _end(self) -> None:
        # Jobs may be placed anew, on a node that is not there any more: nothing is judged by it.
        with suppress(NodeEndedError):
            super()._end()

    def _note_ended_nodes(self) -> bool:
        """Whether a node's first process is gone, and all of the node with it; then that is told.

        Nobody on the node can do that, so it is no matter of the runbook's.
        """
        ended = self._grounds.ended
        if ended and not self._is_given_up:
            self._is_given_up = True
            self._doubt(f"the first process of node {ended[0]} was ended from outside")
        return bool(ended)

    def _is_over(self) -> bool:
        self._note_ended_nodes()
        if self._calls > self.scenario.terms.stop.calls:
            self._doubt(f"the runbook called more than {self.scenario.terms.stop.calls} commands")
            return True
        busy = self._under_test is not None or bool(self._waiting)
        begun = self.world.now_us > self.scenario.begins_us and not self._is_waiting
        return self._is_given_up or (
            begun and not busy and self._bench.is_decided(self.world.now_us)
        )

    def _jump(self, watching: Watching, end_us: int) -> None:
        """Let time pass until the next moment at which somebody is to go on."""
        before_us, events = self.world.now_us, self.world.events
        due_us = min(self.world.next_us(), self._grounds.next_due_us())
        watching.until(max(min(due_us, before_us + _STEP_US, end_us), before_us))
        if self.world.events != events:
            self._grounds.wake()
        self._note_incidents(watching)
        if self._grounds.is_anybody_concerned:
            self._grounds.show(happened=True)
        self._clear_what_went_down()
        self._look()
        self._start_runbook()

    def _settle(self, *, is_last: bool = False) -> None:
        """Serve the runbook, and what it left, until only time can bring them on."""
        self._grounds.serve()
        if not self._grounds.stirred:
            return
        if self._is_playbook:
            self._grounds.wake()  # some of its processes wake by themselves
        began_s = still_s = time.monotonic()
        rest = Rest()
        while (busy := self._busy) and not (self._is_given_up or self._note_ended_nodes()):
            self._check_how_many(busy)
            served = self._grounds.serve(rest.pause_s)
            now_s = time.monotonic()
            if served or self._is_coming_or_going or not self._grounds.are_quiet(busy):
                still_s = now_s
                if served:
                    rest.called()
                elif rest.goes_on(partial(self._grounds.worked_s, busy)):
                    self._grounds.let_one_begin()
            elif self._grounds.serve() or self._grounds.take_turn() or self._note_ends():
                rest = Rest()
            elif is_last or self._grounds.begin_held():
                break
            elif self._grounds.is_parked:
                self._doubt_timeouts(busy)
                break
            elif self._under_test is None and not self._grounds.somebody_wakes_by_itself(busy):
                break  # what was left waits for nothing that time brings
            elif now_s - still_s >= _REAL_STEP_S:
                self._doubt("the runbook waits by this machine's clock, and not by the run's")
                self._grounds.wake()
                return
            if now_s - began_s >= self.scenario.terms.stop.wall_s:
                self._doubt(f"the runbook made no progress in {now_s - began_s:.0f} real seconds")
                self._give_up()
                return
        self._grounds.stirred = False

    @property
    def _busy(self) -> dict[str, int]:
        """The nodes on which somebody may do something, and how many processes each has."""
        living = {name: self._grounds.living(name) for name in self._names}
        started = (self._under_test.started.node,) if self._under_test is not None else ()
        return {name: living[name] for name in living if living[name]} | {
            name: living[name] for name in (*self._left, *started)
        }

    @property
    def _is_coming_or_going(self) -> bool:
        """Whether the runbook is not on its node yet, or not any more."""
        return self._under_test is not None and self._under_test.is_coming_or_going

    def _note_ends(self) -> bool:
        """Tell of the end of the runbook, and of what it left; whether one of them had ended.

        That is told when all is quiet: the same order at every run.
        """
        if self._under_test is not None and self._has_ended():
            return True
        return self._note_what_is_left()

    def _check_how_many(self, living: Mapping[str, int]) -> None:
        """A runbook that starts processes without end is ended: they are this machine's."""
        if any(number > _MOST_PROCESSES for number in living.values()):
            self._doubt(f"the runbook has more than {_MOST_PROCESSES} processes")
            self._give_up()

    def _doubt_timeouts(self, nodes: Collection[str]) -> None:
        """A time-out of the script's own that this machine's clock ends does not fire while the
        run's jumps.

        Ansible's programs look every so often whether something has come, with a time-out that
        means nothing.
        """
        if self._under_test is None or self._is_playbook:
            return
        if self._grounds.somebody_wakes_by_itself(nodes):
            self._grounds.wake()
            self._doubt(
                "the runbook has a time-out by this machine's clock while a command of it waits by "
                "the run's: which comes first is not known"
            )

    @property
    def _is_playbook(self) -> bool:
        under_test = self._under_test
        return under_test is not None and Path(under_test.started.words[0]).name == PLAYER

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
        if node not in self._grounds:
            self._doubt(f"the runbook cannot run on {node}: no fault of the timeline names it")
            return
        words = tuple(command_of(self._runbook, incident))
        started = Started(incident.id, node, words)
        shown = words_of(words, self._runbook.folder)
        facts = {"node": node, "argv": shown, "incident": incident.id}
        self.journal.write(self.world.now_us, "runbook", facts)
        variables = environment(os.environ, incident_object(incident))
        entrance, variables = self._stage.entrance(node, words, variables, self._runbook.folder)
        self._grounds.show(happened=True)  # nobody has looked for a while
        self._grounds.refresh_files(node)
        self._under_test = UnderTest(
            started, entrance, variables, self._runbook.folder, self._grounds.selector
        )
        self._grounds.wake()

    def _has_ended(self) -> bool:
        if self._under_test is None:
            return True
        status = self._under_test.poll()
        if status is None:
            return False
        self._note_end(status)
        return True

    def _end_runbook(self) -> None:
        """It is not wanted any more."""
        if self._under_test is not None and not self._has_ended():
            self._note_end(None)

    def _note_end(self, status: int | None) -> None:
        under_test, self._under_test = self._under_test, None
        if under_test is None:
            return
        under_test.end()
        self._past.append(under_test)
        started = under_test.started
        facts: dict[str, Any] = {
            "node": started.node,
            "argv": words_of(started.words, self._runbook.folder),
            "incident": started.incident,
            "exit": status,
        }
        self.journal.write(self.world.now_us, "runbook", facts)
        self._left.setdefault(started.node, [])

    # --- what it leaves ---------------------------------------------------------------------------

    def _note_what_is_left(self) -> bool:
        """Tell what runs on where the runbook has ended, and when it has ended too; whether that
        was the last of it.
        """
        was_last = False
        for node, told in tuple(self._left.items()):
            if self._under_test is not None and self._under_test.started.node == node:
                continue
            running = self._running(node)
            if running and not told:
                self._left[node] = running
                self._note_background(node, running=running)
            elif not running:
                del self._left[node]
                was_last = True
                if told:
                    self._note_background(node, running=[])
        return was_last

    def _running(self, node: str) -> list[str]:
        """The commands of a node's processes, as the journal has them."""
        folder = self._runbook.folder
        return [shlex.join(words_of(words, folder)) for words in self._grounds.commands_on(node)]

    def _note_background(self, node: str, **facts: list[str]) -> None:
        self.journal.write(self.world.now_us, "background", {"node": node, **facts})

    def _clear_what_went_down(self) -> None:
        """Nothing on a node lives to see it go down, a runbook that reboots it neither."""
        for name in self._names:
            if self.world.nodes[name].is_up:
                self._down.discard(name)
            elif name not in self._down:
                self._down.add(name)
                if self._under_test is not None and self._under_test.started.node == name:
                    self._end_runbook()
                if self._left.pop(name, []):
                    self._note_background(name, running=[])
                self._grounds.sweep(name)

    def _give_up(self) -> None:
        """Neither the runbook nor what it started comes to an end: end it, and the run with it."""
        self._is_given_up = True
        for node in self._busy:
            self._grounds.kill(node)
        self._end_runbook()

    def _end_what_was_left(self) -> None:
        """The run is over. What was left running ends with it, which is told."""
        for node, told in self._left.items():
            if told and not self._is_given_up and (running := self._running(node)):
                self._note_background(node, ended=running)
        for under_test in self._past:
            under_test.close()
            self.output += bytes(under_test.output)

    # --- notes ------------------------------------------------------------------------------------

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
