"""The program that a run is for: in the foreground of the terminal, while the simulator serves it.

The simulator ignores what the keyboard sends to the whole process group (Ctrl-C, Ctrl-Z): it is the
program's. It passes on what is sent to itself alone, and when the program stops it stops too, so
that the shell can take the terminal and give it back.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from chaos.sandbox.program import own_program

KEYBOARD = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGCONT)


def entering(init_pid: int, words: Sequence[str], *, lifeline: int = -1) -> list[str]:
    """The command that runs a program on the node whose first process is ``init_pid``.

    0 is a node without namespaces. At the end of ``lifeline``, a descriptor, the program ends.
    """
    plan = json.dumps({"init": init_pid, "lifeline": lifeline})
    return own_program("chaos.sandbox.enter", plan, *words)


class Foreground:
    """A program in the foreground, and what has become of it."""

    def __init__(self, init_pid: int, words: Sequence[str], environment: Mapping[str, str]) -> None:
        ours, self._lifeline = os.pipe()
        self._process = subprocess.Popen(
            entering(init_pid, words, lifeline=ours), env=dict(environment), pass_fds=(ours,)
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
