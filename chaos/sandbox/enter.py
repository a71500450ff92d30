"""Run a program on a node, in the foreground of the terminal: ``python -m chaos.sandbox.enter``.

This small program joins the namespaces of the node's first process, starts the program there, and
waits for it. The program keeps the caller's terminal, environment and current directory; Ctrl-C
reaches it directly, since all are one process group. When it stops (Ctrl-Z) this one stops too, so
that the shell notices; when it was killed, the terminal is put right. Exit status: the program's,
or 128 + the signal's number.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chaos.sandbox.kernel import setns
from chaos.sandbox.namespaces import KINDS
from chaos.sandbox.terminal import Terminal

_GRACE_S = 0.5
_IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
_FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGCONT)


def main() -> int:
    """Run ``PLAN WORD...``: the plan as JSON, then the program's words."""
    plan: dict[str, Any] = json.loads(sys.argv[1])
    words = sys.argv[2:]
    if plan["lifeline"] >= 0:
        os.set_inheritable(plan["lifeline"], False)
    terminal = Terminal()
    woken = _listen()
    directory = str(Path.cwd())
    try:
        _join(plan["init"])
    except OSError as error:
        print(f"gpuchaos: the node cannot be entered: {error}", file=sys.stderr)
        return 255
    child = os.fork()
    if child == 0:
        _become(words, directory)
    waiting = _Waiting(child, woken, plan["lifeline"])
    status = waiting.wait()
    terminal.take_back()
    if os.WIFSIGNALED(status):
        terminal.restore(abandoned=waiting.abandoned)
        return 128 + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def _listen() -> int:
    """Note signals in a pipe instead of being interrupted; the end to read from."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (*_FORWARDED, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    return woken


def _join(init: int) -> None:
    """Join the namespaces of a process, those that are not ours anyway. 0: stay where we are."""
    if not init:
        return
    opened = []
    for kind, flag in KINDS.items():
        theirs = Path(f"/proc/{init}/ns/{kind}")
        if theirs.stat().st_ino != Path(f"/proc/self/ns/{kind}").stat().st_ino:
            opened.append((os.open(theirs, os.O_RDONLY), flag))
    for descriptor, flag in opened:
        setns(descriptor, flag)
        os.close(descriptor)


def _become(words: list[str], directory: str) -> None:
    """Turn into the program. Does not return."""
    signal.set_wakeup_fd(-1)
    for number in (*_IGNORED, *_FORWARDED, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    status = 127
    try:
        os.chdir(directory)
        program = _find(words[0])
        try:
            os.execv(program, words)
        except OSError as error:
            if error.errno != errno.ENOEXEC:
                raise
        os.execv("/bin/sh", ["sh", program, *words[1:]])  # a script without #!, as execvp(3) does
    except FileNotFoundError:
        print(f"gpuchaos: {words[0]}: there is no such program", file=sys.stderr)
    except OSError as error:
        print(f"gpuchaos: {words[0]}: {error.strerror}", file=sys.stderr)
        status = 126
    finally:
        sys.stderr.flush()
        os._exit(status)


def _find(word: str) -> str:
    """The program that a word names, as a shell finds it."""
    if "/" in word:
        return word
    for folder in os.get_exec_path():
        path = Path(folder or ".", word)
        if os.access(path, os.X_OK) and path.is_file():
            return str(path)
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), word)


class _Waiting:
    """Waiting for the program: for its end, for signals to pass on, for our parent's end."""

    def __init__(self, child: int, woken: int, lifeline: int) -> None:
        self._child = child
        self._woken = woken
        self._lifeline = lifeline
        self.abandoned = False

    def wait(self) -> int:
        """The program's wait status. The end of the lifeline (-1: none) ends the program."""
        watched = [fd for fd in (self._woken, self._lifeline) if fd >= 0]
        killed_at = float("inf")
        while True:
            timeout = None if killed_at == float("inf") else max(0.0, killed_at - time.monotonic())
            ready, _, _ = select.select(watched, [], [], timeout)
            if self._lifeline in ready:
                self.abandoned = True
                watched.remove(self._lifeline)
                self._send(signal.SIGTERM)
                self._send(signal.SIGCONT)
                killed_at = time.monotonic() + _GRACE_S
            elif not ready:
                self._send(signal.SIGKILL)
                killed_at = float("inf")
            if self._woken in ready:
                for number in os.read(self._woken, 256):
                    if number in _FORWARDED:
                        self._send(number)
            for status in self._changes():
                if not os.WIFSTOPPED(status):
                    return status
                os.kill(os.getpid(), signal.SIGSTOP)

    def _changes(self) -> Iterator[int]:
        """The wait statuses that are there to be had."""
        while True:
            pid, status = os.waitpid(self._child, os.WNOHANG | os.WUNTRACED)
            if pid == 0:
                return
            yield status

    def _send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):  # it ended; its status is read next
            os.kill(self._child, number)


if __name__ == "__main__":
    sys.exit(main())
