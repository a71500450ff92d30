"""The program that a run is for: in the foreground of the terminal, while the simulator serves it.

The simulator ignores what the keyboard sends to its process group (Ctrl-C, Ctrl-Z): it is the
program's. It passes on what is sent to itself alone, and when the program stops it stops too, so
that the shell can take the terminal and give it back.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from chaos.sandbox.plan import Entrance
from chaos.sandbox.program import own_program

KEYBOARD = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGCONT)


def entering(entrance: Entrance, words: Sequence[str], *, lifeline: int = -1) -> list[str]:
    """The command that runs a program on a node, until the end of ``lifeline`` (a descriptor)."""
    return own_program("chaos.sandbox.enter", json.dumps(entrance), str(lifeline), *words)


def is_gputui(words: Sequence[str]) -> bool:
    """Whether a command line runs gputui: by its name, or as a module of Python."""
    if PurePath(words[0]).name.startswith("python"):
        return tuple(words[1:3]) == ("-m", "gputui")
    return PurePath(words[0]).name == "gputui"


class Line:
    """The terminal that we were given, if it was one: it may hang up.

    The kernel tells those whose controlling terminal it is, by SIGHUP; who was started apart from
    its session, by setsid(1) say, must look.
    """

    def __init__(self) -> None:
        self._poll = select.poll()
        self._terminals = [number for number in (0, 1, 2) if os.isatty(number)]
        for number in self._terminals:
            self._poll.register(number, 0)  # a hang-up is told without being asked for

    @property
    def hung_up(self) -> bool:
        """Whether nobody is at the other end any more."""
        return bool(self._terminals and self._poll.poll(0))


class Foreground:
    """A program in the foreground, and what has become of it. It gets the files we were given."""

    def __init__(
        self, entrance: Entrance, words: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        given = tuple(_given_descriptors())
        ours, self._lifeline = os.pipe()
        self._process = subprocess.Popen(
            entering(entrance, words, lifeline=ours),
            env=dict(environment),
            pass_fds=(ours, *given),
        )
        os.close(ours)

    def poll(self) -> int | None:
        """The program's exit status, once it has one. A program that stopped stops us too.

        Call after SIGCHLD.
        """
        while True:
            pid, status = os.waitpid(self._process.pid, os.WNOHANG | os.WUNTRACED)
            if pid == 0:
                return None
            if os.WIFSTOPPED(status):
                os.kill(os.getpid(), signal.SIGSTOP)
                continue
            code = os.waitstatus_to_exitcode(status)
            self._process.returncode = code
            return code if code >= 0 else 128 - code

    def send(self, number: int) -> None:
        """Pass a signal on."""
        if self._process.returncode is None:
            os.kill(self._process.pid, number)

    def close(self) -> None:
        """End the program if it lives, and wait for it."""
        os.close(self._lifeline)
        if self._process.returncode is None:
            self._process.wait()


def _given_descriptors() -> Iterator[int]:
    """Those that whoever called us wants passed on: Python's own are never inheritable."""
    for path in Path("/proc/self/fd").iterdir():
        number = int(path.name)
        with contextlib.suppress(OSError):  # that of the listing itself
            if number > 2 and os.get_inheritable(number):
                yield number
