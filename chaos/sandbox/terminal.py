"""The terminal as it was: put back after a program that could not do so itself.

Imports little: it is part of the small program that stands between the simulator and the program
in the foreground, and outlives both.
"""

from __future__ import annotations

import os
import termios
from typing import Any

_LEAVE_FULL_SCREEN = (
    b"\x1b[?1049l"  # the alternate screen
    b"\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l"  # mouse reports
    b"\x1b[?2004l"  # bracketed paste
    b"\x1b[?25h\x1b[0m\r\n"  # cursor and colours
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
        """Give the foreground back to who had it; a shell inside may have taken it."""
        try:
            if self._descriptor >= 0 and os.tcgetpgrp(self._descriptor) != self._group:
                os.tcsetpgrp(self._descriptor, self._group)
        except OSError:
            pass  # the terminal is gone, or its group is

    def restore(self) -> None:
        """Undo what a program that was killed left behind. Call with SIGTTOU ignored."""
        if self._descriptor < 0:
            return
        try:
            if termios.tcgetattr(self._descriptor) != self._modes:
                termios.tcsetattr(self._descriptor, termios.TCSANOW, self._modes or [])
                os.write(self._descriptor, _LEAVE_FULL_SCREEN)
        except (OSError, termios.error):
            pass  # the terminal is gone
