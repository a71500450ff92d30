"""The terminal as it was: put back after a program that could not do so itself.

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
        self._group = 0
        try:
            if self._descriptor >= 0:
                self._modes = termios.tcgetattr(self._descriptor)
                self._group = os.tcgetpgrp(self._descriptor)
        except (OSError, termios.error):
            self._descriptor = -1  # a terminal that is not ours to control

    def take_back(self) -> None:
        """Give the foreground back to who had it, if a shell inside took it and is gone."""
        with contextlib.suppress(OSError):  # the terminal is gone, or our own group is
            if self._descriptor >= 0 and not _lives(os.tcgetpgrp(self._descriptor)):
                os.tcsetpgrp(self._descriptor, self._group)

    def restore(self, *, abandoned: bool) -> None:
        """Undo what a program that was killed left behind. Call with SIGTTOU ignored.

        ``abandoned``: our own parent was killed too, so that its shell may be at its prompt again.
        The modes are then the shell's, which sets them as it likes.
        """
        if self._descriptor < 0:
            return
        with contextlib.suppress(OSError, termios.error):  # the terminal is gone
            changed = termios.tcgetattr(self._descriptor) != self._modes
            ours = os.tcgetpgrp(self._descriptor) == self._group
            if changed and ours:
                termios.tcsetattr(self._descriptor, termios.TCSANOW, self._modes or [])
            if abandoned or (changed and ours):
                os.write(self._descriptor, _LEAVE_FULL_SCREEN)


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
