"""The machine's side of a rehearsal: the nodes that have real processes, and what serves those.

Whatever a program on one of these nodes asks for comes in here, and what became of it goes out:
calls of look-alikes, NVML, sleeps, files. A rehearsal (chaos/virtual/rehearsal.py) says when.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path

from chaos.lookalikes.server import CommandServer
from chaos.lookalikes.waiting_line import WaitingLine
from chaos.real_time.live import LiveNode
from chaos.run import Run
from chaos.virtual.barrier import Barrier, are_quiet
from fakes.actions import Action, Effect
from fakes.nvml.answer import FOREVER_US


class Grounds:
    """The nodes on which a runbook can run, by name.

    ``stirred`` says that there may be something to do for programs, or by them, since it was last
    cleared.
    """

    def __init__(
        self, run: Run, live: Mapping[str, LiveNode], lines: Collection[WaitingLine]
    ) -> None:
        self.selector: selectors.BaseSelector = selectors.DefaultSelector()
        self.stirred = True
        self._rest = False
        """Whether everybody sleeps, and nobody was woken since that was seen."""
        self._some_ended = False
        self._run = run
        self._live = live
        self._lines = lines
        self._barriers = {name: _barrier(node) for name, node in live.items()}

    def __contains__(self, name: str) -> bool:
        return name in self._live

    def register(self) -> None:
        """Begin to serve them."""
        for live in self._live.values():
            note = partial(self._note_exits_of, live)
            self.selector.register(live.host, selectors.EVENT_READ, note)
            for service in (live.surface, live.commands):
                if service is not None:
                    service.register(self.selector)

    def unregister(self) -> None:
        """Serve them no longer: every call ends."""
        for barrier in self._barriers.values():
            barrier.close()
        for live in self._live.values():
            for service in (live.surface, live.commands):
                if service is not None:
                    service.unregister()

    # --- serving ---------------------------------------------------------------------------------

    def serve(self, wait_s: float = 0.0) -> bool:
        """Do what programs ask for; whether any did. None asking, wait for one so many seconds."""
        ready = self.selector.select(wait_s)
        for key, _ in ready:
            key.data()
        if ready:
            self.wake()
            self._show_news()
        return bool(ready)

    @property
    def is_anybody_concerned(self) -> bool:
        """Whether somebody is to go on now, or may be; nobody else sees that time goes by."""
        return (
            self.stirred
            or self.next_due_us() <= self._run.world.now_us
            or any(live.host.pending for live in self._live.values())
        )

    def wake(self) -> None:
        """Somebody may go on."""
        self.stirred, self._rest = True, False

    def _show_news(self) -> bool:
        """Show what came of what programs did, if anything came of it; whether it did."""
        now_us = self._run.world.now_us
        if (
            self._some_ended
            or self._run.world.next_us() <= now_us
            or self.next_due_us() <= now_us
            or any(commands.has_changed for commands in self._commands())
        ):
            self.show(happened=False)
            return True
        return False

    def show(self, *, happened: bool) -> None:
        """Let calls go on that are due, and show everybody what they changed."""
        now_us = self._run.world.now_us
        self._note_exits()
        self._some_ended = False
        happens = self._run.advance(now_us)
        self.stirred = self.stirred or self.next_due_us() <= now_us
        if happens:
            self.wake()
        changed = happens or happened
        self._refresh_files(now_us)
        acted = False
        for live in self._live.values():
            commands = live.commands
            if commands is not None and commands.advance(now_us, happened=changed or acted):
                self._run.world.touch(live.node.name)
                acted = True
        if acted:
            self.wake()
            self.refresh_files()
        changed = changed or acted
        for live in self._live.values():
            if live.surface is not None:
                live.surface.publish(now_us, happened=changed)
        for commands in self._commands():
            commands.settle()

    def refresh_files(self, node: str | None = None) -> None:
        """Bring the files of a node, or of all, up to date."""
        for name, live in self._live.items():
            if node in (None, name):
                live.files.refresh()

    def _refresh_files(self, now_us: int) -> None:
        """The same where somebody is about to go on, and may look."""
        for live in self._live.values():
            if live.commands is not None and live.commands.next_due_us() <= now_us:
                live.files.refresh()

    def take_turn(self) -> bool:
        """Let one program go on that may, and no other; whether there was one.

        Only when all is at rest: so programs do one thing after another, in the same order at
        every run.
        """
        taken = any(line.take() for line in self._lines)
        if taken:
            self.wake()
        return self._show_news() or taken

    def let_one_begin(self) -> bool:
        """Let one process or thread begin that is new, though all is not at rest; whether one did.

        Whoever started it may wait for it without resting.
        """
        begun = any(line.take_born() for line in self._lines)
        if begun:
            self.wake()
        return begun

    def begin_held(self) -> bool:
        """Let the calls begin that came since the last time; whether any did."""
        now_us = self._run.world.now_us
        begun = [commands.begin_held(now_us) for commands in self._commands()]
        return any(begun)

    @property
    def is_parked(self) -> bool:
        """Whether somebody waits for the run's clock."""
        return any(commands.parked for commands in self._commands())

    def next_due_us(self) -> int:
        """When somebody is to go on who waits for the run's clock."""
        dues_us = [commands.next_due_us() for commands in self._commands()]
        for live in self._live.values():
            due_us = live.surface.next_due_us() if live.surface is not None else None
            dues_us += [] if due_us is None else [due_us]
        return min(dues_us, default=FOREVER_US)

    def _commands(self) -> Iterator[CommandServer]:
        return (live.commands for live in self._live.values() if live.commands is not None)

    # --- processes -------------------------------------------------------------------------------

    def are_quiet(self, nodes: Collection[str]) -> bool:
        """Whether every process on these nodes sleeps."""
        self._rest = self._rest or are_quiet([self._barriers[name] for name in nodes])
        return self._rest

    def worked_s(self, nodes: Collection[str]) -> float:
        """How long processes on these nodes have had a processor, those that live now."""
        return sum(self._barriers[name].worked_s() for name in nodes)

    def living(self, node: str) -> int:
        """How many processes a node has that are not a job's, nor its own services'."""
        return self._barriers[node].count()

    def commands_on(self, node: str) -> list[list[str]]:
        """Their command lines, in order."""
        return self._barriers[node].commands()

    def somebody_wakes_by_itself(self, nodes: Collection[str]) -> bool:
        """Whether somebody on these nodes sleeps with a timeout of this machine's clock."""
        return any(self._barriers[name].somebody_wakes_by_itself for name in nodes)

    def sweep(self, node: str) -> None:
        """End every process on a node that is not a job's, nor its own services'."""
        live = self._live[node]
        live.host.sweep(live.node.pids)
        self.wake()

    @property
    def ended(self) -> list[str]:
        """The nodes whose first process is gone."""
        return [name for name, live in self._live.items() if live.host.ended]

    def kill(self, node: str) -> None:
        """End a node with all that runs on it, at once, however much that is."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._live[node].host.init_pid, signal.SIGKILL)

    def _note_exits(self) -> None:
        for live in self._live.values():
            if live.host.pending:
                self._note_exits_of(live)

    def _note_exits_of(self, live: LiveNode) -> None:
        """Ranks ended. One that the world still has was killed from within the node."""
        self.wake()
        self._some_ended = True
        now_us = self._run.world.now_us
        ended = live.host.exited()
        if live.host.ended:
            self.selector.unregister(live.host)
            return
        for pid in ended:
            process = live.node.processes.get(pid)
            if process is not None:
                spec = process.spec
                live.node.actions.note(
                    Action(now_us, Effect.KILL, live.node.name, spec.gpu, spec.job or None)
                )
            live.node.process_ended(pid, now_us)


def _barrier(live: LiveNode) -> Barrier:
    proc = Path(f"/proc/{live.host.init_pid}/root/proc")
    return Barrier(proc, lambda: live.node.pids)
