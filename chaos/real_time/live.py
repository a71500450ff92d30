"""A run in real time: one thread and one selector serve everything.

The loop follows the clock: it lets the world advance, and shows each node's NVML as it is about ten
times a second and after every event. In between it answers NVML's sockets and the control socket,
takes note of processes that ended, and waits for the program in the foreground.
"""

from __future__ import annotations

import os
import selectors
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from chaos.errors import UsageError, quoted
from chaos.fault import (
    ArgumentError,
    FaultError,
    check_selections,
    described,
    parse_fault,
    type_of,
)
from chaos.fault_parts.words import in_words
from chaos.format.values import BadValueError, Duration, convert
from chaos.lookalikes.server import CommandServer
from chaos.real_time.foreground import KEYBOARD, PASSED_ON, Foreground, Line
from chaos.real_time.game import Game
from chaos.run import Active, Run, UnknownFaultError
from chaos.sandbox.edited import EditedFiles
from chaos.sandbox.host import SandboxHost
from chaos.selection import Inventory
from fakes.actions import Action, Effect
from fakes.clock import Epoch, ScaledClock
from fakes.files.kept import KeptFiles
from fakes.node import Node
from fakes.system.kernel_log import KernelLogFile

_PERIOD_S = 0.1
_PATIENCE_S = 5.0
"""How long the program may take to end after the simulator was asked to."""

_QUESTIONS = ("status", "progress")
"""Requests that change nothing."""


class Service(Protocol):
    """Something that a selector's loop serves: the ``data`` of its ready keys is called."""

    def register(self, selector: selectors.BaseSelector) -> None:
        """Be served."""
        ...

    def unregister(self) -> None:
        """Be served no longer."""
        ...


class Surface(Service, Protocol):
    """What shows a node to programs: NVML's endpoint, say."""

    def publish(self, at_us: int, *, happened: bool = True) -> None:
        """Show the node as it is at ``at_us``; ``happened`` False: only time went by."""
        ...

    def next_due_us(self) -> int | None:
        """When, on the run's clock, it has something to do by itself."""
        ...


@dataclass(frozen=True, slots=True)
class LiveNode:
    """A node of the world, the real processes on it, what shows it, and what answers its commands
    (None: nothing does).
    """

    node: Node
    host: SandboxHost
    surface: Surface | None
    commands: CommandServer | None
    log: KernelLogFile
    files: KeptFiles
    edits: tuple[EditedFiles, ...] = ()

    def look(self) -> None:
        """Let the world see what programs have done to the node's files."""
        for edited in self.edits:
            edited.look()

    def set_epoch(self, epoch: Epoch) -> None:
        """Lie elsewhere on the calendar from now on."""
        self.node.epoch = self.log.epoch = epoch


class LiveRun:
    """A run on a clock that ticks."""

    def __init__(
        self,
        run: Run,
        clock: ScaledClock,
        nodes: Sequence[LiveNode],
        inventory: Inventory,
        facts: dict[str, Any],
        game: Game | None = None,
    ) -> None:
        self._run = run
        self._game = game
        self._advance = run.advance if game is None else game.advance
        self._clock = clock
        self._nodes = tuple(nodes)
        self._surfaces = [live.surface for live in nodes if live.surface is not None]
        self._commands = [live.commands for live in nodes if live.commands is not None]
        self._inventory = inventory
        self._facts = facts
        self._selector = selectors.DefaultSelector()
        self._changed = False
        self._published_s = 0.0
        self._looked_s = 0.0

    def serve(self, start: Callable[[], Foreground], others: Sequence[Service] = ()) -> int:
        """Start the program and serve it, and ``others``, until it ends; its exit status."""
        services: list[Service] = [*self._surfaces, *self._commands, *others]
        with self._selector, _signals() as woken:
            self._selector.register(woken, selectors.EVENT_READ)
            for live in self._nodes:
                self._selector.register(
                    live.host, selectors.EVENT_READ, partial(self._note_exits, live)
                )
            for service in services:
                service.register(self._selector)
            try:
                self._turn()
                return self._until_end(start, woken)
            finally:
                for service in services:
                    service.unregister()

    def _until_end(self, start: Callable[[], Foreground], woken: int) -> int:
        program = start()
        try:
            return self._serve(program, woken)
        finally:
            program.close()

    def _serve(self, program: Foreground, woken: int) -> int:
        line = Line()
        give_up_s = float("inf")
        while time.monotonic() < give_up_s:
            if give_up_s == float("inf") and line.hung_up:
                program.send(signal.SIGHUP)
                give_up_s = time.monotonic() + _PATIENCE_S
            for key, _ in self._selector.select(self._idle_s()):
                if key.fd == woken:
                    for number in os.read(woken, 256):
                        if number in PASSED_ON:
                            program.send(number)
                        if number in (signal.SIGTERM, signal.SIGHUP):
                            give_up_s = min(give_up_s, time.monotonic() + _PATIENCE_S)
                    status = program.poll()
                    if status is not None:
                        return status
                else:
                    key.data()
            self._turn()
        return 128 + signal.SIGTERM

    def _turn(self) -> None:
        """Bring the world up to now, and show it if something happened or it is time."""
        for live in self._nodes:
            if live.host.pending:
                self._note_exits(live)
        if time.monotonic() - self._looked_s >= _PERIOD_S:
            self._looked_s = time.monotonic()
            for live in self._nodes:
                live.look()
        now_us = self._clock.now_us()
        happened = self._advance(now_us) or self._changed
        self._changed = False
        for commands in self._commands:
            happened = commands.advance(now_us, happened=happened) or happened
        if happened or self._is_due(now_us):
            self._published_s = time.monotonic()
            for surface in self._surfaces:
                surface.publish(now_us, happened=happened)
            for live in self._nodes:
                live.files.refresh()
        for commands in self._commands:
            commands.settle()

    def _is_due(self, at_us: int) -> bool:
        """Whether it is time to show the nodes, though nothing happened."""
        dues_us = (surface.next_due_us() for surface in self._surfaces)
        return time.monotonic() - self._published_s >= _PERIOD_S or any(
            due_us is not None and due_us <= at_us for due_us in dues_us
        )

    def _idle_s(self) -> float:
        """How long there is nothing to do unless somebody asks."""
        dues_us = (surface.next_due_us() for surface in self._surfaces)
        next_us = [self._run.world.next_us(), *(due for due in dues_us if due is not None)]
        next_us += [commands.next_due_us() for commands in self._commands]
        until_event_s = self._clock.real_seconds(min(next_us) - self._clock.now_us())
        until_publication_s = self._published_s + _PERIOD_S - time.monotonic()
        return max(0.0, min(until_event_s, until_publication_s))

    def _note_exits(self, live: LiveNode) -> None:
        """Processes ended, whoever ended them: in the world they end now."""
        now_us = self._clock.now_us()
        self._advance(now_us)
        pids = live.host.exited()
        if live.host.ended:
            self._selector.unregister(live.host)
            self._run.problems.append(f"the first process of node {live.node.name} was ended.")
            pids = tuple(live.node.processes)
        for pid in pids:
            process = live.node.processes.get(pid)
            if process is not None and not live.host.ended:
                spec, name = process.spec, live.node.name
                action = Action(now_us, Effect.KILL, name, spec.gpu, spec.job or None)
                live.node.actions.note(action)
            live.node.process_ended(pid, now_us)
        self._changed = True

    # --- the control socket ----------------------------------------------------------------------

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Do what a request asks (see ``control.py``); NVML shows it by the time of the reply."""
        self._advance(self._clock.now_us())
        reply = self._obey(request)
        if "error" not in reply and request.get("do") not in _QUESTIONS:
            self._changed = True
            self._turn()
        return reply

    def _obey(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            if request.get("do") == "inject":
                return {"id": self._inject(request).id}
            if request.get("do") == "heal":
                return {"healed": self._heal(str(request.get("id")))}
            if request.get("do") == "status":
                return self.status()
            if request.get("do") == "pause":
                return self._pause()
            if request.get("do") == "resume":
                return self._resume()
            if request.get("do") in ("progress", "hint", "end"):
                return self._ask_game(request)
        except (UsageError, ArgumentError, BadValueError, UnknownFaultError) as error:
            return {"error": str(error)}
        except FaultError as error:
            return {"error": f"{error}."}
        return {"error": f"unknown request {quoted(str(request.get('do')))}."}

    def status(self) -> dict[str, Any]:
        """What runs here, and what is broken now."""
        now_us = self._clock.now_us()
        return {
            **self._facts,
            "now_s": now_us / 1e6,
            "paused": self._clock.paused,
            "game": self._game is not None,
            "nodes": [self._node_facts(live, now_us) for live in self._nodes],
            "faults": [_fault_facts(active) for active in self._run.active],
            "problems": list(self._run.problems),
        }

    def _pause(self) -> dict[str, Any]:
        if not self._clock.paused:
            self._note("pause")
        self._clock.pause()
        return {"paused": True}

    def _resume(self) -> dict[str, Any]:
        """Go on; the nodes' calendar has moved on meanwhile."""
        if self._clock.paused:
            self._note("resume")
        self._clock.resume()
        for live in self._nodes:
            live.set_epoch(self._clock.epoch())
        return {"paused": False}

    def _note(self, event: str) -> None:
        if self._game is not None:
            self._game.note(event)

    def _ask_game(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._game is None:
            raise UsageError(
                "nobody keeps the score of this run: start it with 'gpuchaos run SCENARIO "
                "--journal FILE', or with 'gpuchaos console SCENARIO'."
            )
        if request["do"] == "hint":
            return {"hint": self._game.hint()}
        if request["do"] == "end":
            self._game.end()
        after = request.get("after", 0)
        return self._game.progress(after if isinstance(after, int) else 0) | {
            "paused": self._clock.paused,
            "rate": self._clock.rate,
            "faults": [_fault_facts(active) for active in self._run.active],
            "problems": list(self._run.problems),
        }

    def _inject(self, request: dict[str, Any]) -> Active:
        arguments = request.get("arguments")
        if not isinstance(arguments, dict):
            raise UsageError("a fault's arguments are a mapping.")
        words = {str(name): str(value) for name, value in arguments.items()}
        fault = parse_fault(str(request.get("fault")), words)
        check_selections(fault, self._inventory)
        duration = request.get("for")
        for_us = None if duration is None else convert(str(duration), Duration).us
        return self._run.inject(fault, for_us=for_us)

    def _heal(self, fault_id: str) -> list[str]:
        if fault_id == "all":
            return list(self._run.heal_all())
        self._run.heal(fault_id)
        return [fault_id]

    def _node_facts(self, live: LiveNode, now_us: int) -> dict[str, Any]:
        processes = [
            {
                "pid": process.pid,
                "job": process.spec.job,
                "rank": process.spec.rank,
                "gpus": [gpu.index for gpu in live.node.gpus if process.pid in gpu.uses],
            }
            for process in live.node.processes.values()
        ]
        lost = [gpu.index for gpu in live.node.gpus if gpu.lost is not None]
        return {"name": live.node.name, "lost_gpus": lost, "processes": processes}


def _fault_facts(active: Active) -> dict[str, Any]:
    return {
        "id": active.id,
        "fault": type_of(active.fault).family,
        "arguments": described(active.fault),
        "text": in_words(active.fault),
        "since_s": active.since_us / 1e6,
        "until_s": None if active.until_us is None else active.until_us / 1e6,
    }


@contextmanager
def _signals() -> Iterator[int]:
    """While the program runs: a pipe that tells of signals, and the keyboard's are not for us."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in KEYBOARD}
    for number in (*PASSED_ON, signal.SIGCHLD):
        before[number] = signal.signal(number, lambda *_: None)
    wakeup = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    try:
        yield woken
    finally:
        signal.set_wakeup_fd(wakeup)
        for number, handler in before.items():
            signal.signal(number, handler)
        os.close(woken)
        os.close(wake)
