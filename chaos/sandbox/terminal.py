"""The terminal: whose turn it is, and as it was before a program that could not put it right.

Imports little: it is part of the small program that stands between the simulator and the program
in the foreground, and outlives both.
"""

from __future__ import annotations

import contextlib
import os
import termios
from typing import Any

_LEAVE_FULL_SCREEN = (
    b"\x1b[?1047l"  # the alternate screen; does nothing on the main one
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l"  # mouse reports
    b"\x1b[?25h\x1b[0m"  # cursor and colours
)


class Terminal:
    """Modes and foreground process group of the terminal on standard input, output or error."""

    def __init__(self) -> None:
        self._descriptor = next((fd for fd in (0, 1, 2) if os.isatty(fd)), -1)
        self._modes: list[Any] | None = None
        self._group = os.getpgrp()
        try:
            if self._descriptor >= 0:
                self._modes = termios.tcgetattr(self._descriptor)
                os.tcgetpgrp(self._descriptor)
        except (OSError, termios.error):
            self._descriptor = -1  # a terminal that is not ours to control

    @property
    def path(self) -> str:
        """Its device file; "" if there is none."""
        with contextlib.suppress(OSError):
            if self._descriptor >= 0:
                return os.ttyname(self._descriptor)
        return ""

    @property
    def ours(self) -> bool:
        """Whether it is our process group's turn."""
        return self._foreground() == self._group

    @property
    def is_all(self) -> bool:
        """Whether input and output both are a terminal, so that nobody beside us waits for it."""
        return self._descriptor >= 0 and os.isatty(0) and os.isatty(1)

    def give(self, group: int) -> None:
        """Let it be the turn of another process group. Call with SIGTTOU ignored."""
        with contextlib.suppress(OSError):  # the terminal is gone, or the group is
            os.tcsetpgrp(self._descriptor, group)

    def take_back(self, group: int) -> bool:
        """Take the turn back from ``group``, or from one that is gone; False if another has it."""
        holder = self._foreground()
        if holder in (-1, self._group) or (holder != group and _lives(holder)):
            return False
        self.give(self._group)
        return True

    def restore(self, *, abandoned: bool) -> None:
        """Undo what a program that was killed left behind. Call with SIGTTOU ignored.

        ``abandoned``: our own parent was killed too, so that its shell may be at its prompt again.
        The modes are then the shell's, which sets them as it likes.
        """
        if self._descriptor < 0:
            return
        with contextlib.suppress(OSError, termios.error):  # the terminal is gone
            changed = termios.tcgetattr(self._descriptor) != self._modes
            if changed and self.ours:
                termios.tcsetattr(self._descriptor, termios.TCSANOW, self._modes or [])
            if abandoned or (changed and self.ours):
                os.write(self._descriptor, _LEAVE_FULL_SCREEN)

    def _foreground(self) -> int:
        """The process group whose turn it is; -1 if nobody can tell."""
        if self._descriptor < 0:
            return -1
        try:
            return os.tcgetpgrp(self._descriptor)
        except OSError:
            return -1


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
