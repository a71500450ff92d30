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
from chaos.real_time.live import LiveNode
from chaos.run import Run
from chaos.virtual.barrier import Barrier, are_quiet
from fakes.actions import Action, Effect
from fakes.nvml.answer import FOREVER_US

_FIRST_PROCESS = 1


class Grounds:
    """The nodes on which a runbook can run, by name.

    ``stirred`` says that somebody there may have gone on since it was last cleared.
    """

    def __init__(self, run: Run, live: Mapping[str, LiveNode]) -> None:
        self.selector: selectors.BaseSelector = selectors.DefaultSelector()
        self.stirred = True
        self._run = run
        self._live = live
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
            self.stirred = True
            self.show(happened=False)
        return bool(ready)

    @property
    def is_anybody_concerned(self) -> bool:
        """Whether somebody is to go on now, or may be; nobody else sees that time goes by."""
        return (
            self.stirred
            or self.next_due_us() <= self._run.world.now_us
            or any(live.host.pending for live in self._live.values())
        )

    def show(self, *, happened: bool) -> None:
        """Let calls go on that are due, and show everybody what they changed."""
        now_us = self._run.world.now_us
        self._note_exits()
        happens = self._run.advance(now_us)
        self.stirred = self.stirred or happens or self.next_due_us() <= now_us
        changed = happens or happened
        self._refresh_files(now_us)
        acted = False
        for live in self._live.values():
            commands = live.commands
            if commands is not None and commands.advance(now_us, happened=changed or acted):
                self._run.world.touch(live.node.name)
                acted = True
        if acted:
            self.stirred = True
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
        """Whether every process on these nodes sleeps. It takes a millisecond to find out."""
        return are_quiet(self._barriers[name] for name in nodes)

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
        self.stirred = True
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
    return Barrier(proc, lambda: (_FIRST_PROCESS, *live.node.pids))
