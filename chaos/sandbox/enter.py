"""Run a program on a node, in the foreground of the terminal: ``python -m chaos.sandbox.enter``.

This small program joins the namespaces of the node's first process, starts the program there, and
waits for it. The program keeps the caller's terminal, environment, directory and open files.

It is a process group of its own, so that ``kill 0`` reaches nobody outside, and is given the
terminal as a shell gives it to a job: at once if it is all there is, else when it asks. What the
keyboard sends to us meanwhile is passed on. When it stops (Ctrl-Z) we stop too, so that the shell
notices; when it or the simulator was killed, the terminal is put right. Exit status: the
program's, or 128 + the signal's number.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import select
import signal
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from chaos.sandbox import kernel
from chaos.sandbox.namespaces import KINDS, become_powerless, see
from chaos.sandbox.plan import Bind, Entrance
from chaos.sandbox.program import current_directory
from chaos.sandbox.root import CONSOLE, copied, copied_device, put
from chaos.sandbox.terminal import Terminal

_GRACE_S = 0.5
_NEWS_S = 0.2
_ENDS_OF_A_NODE = (128 + signal.SIGKILL, 125)
_STOPS = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
_KEYBOARD = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP)
_FORWARDED = (signal.SIGTERM, signal.SIGHUP)
_NOTICED = (*_KEYBOARD, *_FORWARDED, signal.SIGCONT, signal.SIGCHLD)
_IGNORED = (signal.SIGTTIN, signal.SIGTTOU)


def main() -> int:
    """Run ``PLAN LIFELINE WORD...``: an :class:`Entrance` as JSON, a descriptor, and the words."""
    entrance = Entrance.from_json(json.loads(sys.argv[1]))
    lifeline = int(sys.argv[2])
    words = sys.argv[3:]
    if lifeline >= 0:
        os.set_inheritable(lifeline, False)
    terminal = Terminal()
    directory = str(current_directory())
    woken = _listen()
    try:
        users = _join(entrance)
    except OSError as error:
        print(f"gpuchaos: the node cannot be entered: {error.strerror}", file=sys.stderr)
        return 255
    child = os.fork()
    if child == 0:
        _become(words, directory, terminal, entrance, users)
    with contextlib.suppress(OSError):  # the child was quicker, and is a program by now
        os.setpgid(child, child)
    waiting = _Waiting(child, terminal, woken, lifeline)
    status = waiting.wait()
    terminal.take_back(child)
    code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    abandoned = waiting.is_abandoned(code)
    if abandoned or os.WIFSIGNALED(status):
        terminal.restore(abandoned=abandoned)
    return code


def _listen() -> int:
    """Note signals in a pipe instead of being interrupted; the end to read from."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in _NOTICED:
        signal.signal(number, lambda *_: None)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    return woken


def _join(entrance: Entrance) -> int:
    """Join the namespaces of the node's first process; its programs' user namespace, or -1."""
    if not entrance.init:
        return -1
    users = os.open(entrance.users, os.O_RDONLY) if entrance.users else -1
    opened = []
    for kind, flag in KINDS.items():
        theirs = Path(f"/proc/{entrance.init}/ns/{kind}")
        if theirs.stat().st_ino != Path(f"/proc/self/ns/{kind}").stat().st_ino:
            opened.append((os.open(theirs, os.O_RDONLY), flag))
    for descriptor, flag in opened:
        kernel.setns(descriptor, flag)
        os.close(descriptor)
    return users


def _become(
    words: list[str], directory: str, terminal: Terminal, entrance: Entrance, users: int
) -> None:
    """Turn into the program. Does not return."""
    signal.set_wakeup_fd(-1)
    os.setpgid(0, 0)
    if terminal.ours and terminal.is_all:
        terminal.give(os.getpgrp())
    for number in (*_IGNORED, *_NOTICED, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    status = 127
    try:
        if entrance.init:
            _arrive(entrance, users, terminal.path)
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


def _arrive(entrance: Entrance, users: int, terminal: str) -> None:
    """See the node's root, with what the program brings along, and lose all power over it."""
    _close_directories()
    trees = [(copied(bind), bind) for bind in entrance.binds]
    if terminal:
        trees.append((copied_device(terminal), Bind(terminal, CONSOLE)))
    see(entrance.root)
    for tree, bind in trees:
        put(tree, bind)
    kernel.drop_old_root()
    become_powerless(users)


def _close_directories() -> None:
    """Close inherited descriptors of directories: they would lead around every mount."""
    for path in Path("/proc/self/fd").iterdir():
        number = int(path.name)
        with contextlib.suppress(OSError):  # that of the listing itself
            inherited = number > 2 and os.get_inheritable(number)
            if inherited and stat.S_ISDIR(os.fstat(number).st_mode):
                os.close(number)


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

    def __init__(self, child: int, terminal: Terminal, woken: int, lifeline: int) -> None:
        self._child = child
        self._terminal = terminal
        self._woken = woken
        self._lifeline = lifeline
        self._abandoned = False

    def wait(self) -> int:
        """The program's wait status. The end of the lifeline (-1: none) ends the program."""
        watched = [fd for fd in (self._woken, self._lifeline) if fd >= 0]
        killed_at = float("inf")
        while True:
            timeout = None if killed_at == float("inf") else max(0.0, killed_at - time.monotonic())
            ready, _, _ = select.select(watched, [], [], timeout)
            if self._lifeline in ready:
                self._abandoned = True
                watched.remove(self._lifeline)
                self._send(signal.SIGTERM)
                self._send_all(signal.SIGCONT)
                killed_at = time.monotonic() + _GRACE_S
            elif not ready:
                self._send(signal.SIGKILL)
                killed_at = float("inf")
            if self._woken in ready:
                self._pass_on(os.read(self._woken, 256))
            for status in self._changes():
                if not os.WIFSTOPPED(status):
                    return status
                self._stopped(os.WSTOPSIG(status))

    def is_abandoned(self, code: int) -> bool:
        """Whether the simulator is gone too, once the program has ended with this exit status.

        Its end kills a node's programs, or takes the answer from a look-alike command; the news
        of either end may come first.
        """
        if self._abandoned or self._lifeline < 0:
            return self._abandoned
        patience = _NEWS_S if code in _ENDS_OF_A_NODE else 0.0
        return bool(select.select([self._lifeline], [], [], patience)[0])

    def _pass_on(self, numbers: bytes) -> None:
        """What was sent to us is for the program; what the keyboard sent, for all of its group."""
        for number in numbers:
            if number in _FORWARDED:
                self._send(number)
            elif number in (*_KEYBOARD, signal.SIGCONT):
                self._send_all(number)

    def _stopped(self, number: int) -> None:
        """The program stopped. If it asked for the terminal and we have it, it gets it; else we
        stop with it, and go on when we are told to.
        """
        if number in (signal.SIGTTIN, signal.SIGTTOU) and self._terminal.ours:
            self._terminal.give(self._child)
        else:
            given = self._terminal.take_back(self._child)
            if number in _STOPS:
                # All of our job: a script that called us, a pager beside us.
                before = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
                os.killpg(0, signal.SIGTSTP)
                signal.signal(signal.SIGTSTP, before)
            os.kill(os.getpid(), signal.SIGSTOP)
            if given and self._terminal.ours:
                self._terminal.give(self._child)
        self._send_all(signal.SIGCONT)

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

    def _send_all(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child, number)


if __name__ == "__main__":
    sys.exit(main())
