"""The first picture, on the terminal before Textual is there.

Importing Textual takes longer than the first reading. Drawing needs nothing of it, so the picture
is drawn as soon as there is a snapshot, on the alternate screen that Textual then takes over as it
is. Keys that are typed meanwhile wait in the terminal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import termios
import threading
from collections.abc import Callable
from time import monotonic
from types import FrameType, TracebackType
from typing import Any

from gputui.model import Snapshot
from gputui.sources.playback import Playback
from gputui.tui.departure import Departure
from gputui.tui.escapes import drawn
from gputui.tui.frame import draw
from gputui.tui.glyphs import Glyphs
from gputui.tui.text import in_ascii
from gputui.tui.themes import Theme
from gputui.tui.view import View
from gputui.tui.watch import Watch

ALTERNATE_SCREEN = "\x1b[?1049h"
"""Switches to the screen that programs draw on, and clears it (xterm, mode 1049)."""

_HIDE_CURSOR = "\x1b[?25l"
_LEAVE = "\x1b[?25h\x1b[?1049l"
_LOCAL_MODES = 3
"""Where the local modes stand in what ``tcgetattr`` returns."""


class Opening:
    """Draws snapshots until somebody else does. To be used in a ``with``, on the main thread.

    Told to end, it does so by :class:`SystemExit`, so that the terminal is left as it was; after
    the hand-over that is for the successor. ``may_draw`` says of a snapshot whether it is to be on
    the screen at all.
    """

    def __init__(
        self,
        theme: Theme,
        glyphs: Glyphs,
        departure: Departure,
        may_draw: Callable[[Snapshot], bool] = lambda _: True,
        playback: Playback | None = None,
    ) -> None:
        self.heard = threading.Event()
        """Set when there is a snapshot."""
        self.snapshot: Snapshot | None = None
        self.departure = departure
        self._theme = theme
        self._glyphs = glyphs
        self._may_draw = may_draw
        self._playback = playback
        self._lock = threading.RLock()  # a signal may come to whoever has it
        self._offer: Callable[[Snapshot], None] | None = None
        self._is_over = False
        self._drew = False
        self._modes: list[Any] = []

    def __enter__(self) -> Opening:
        """Take the terminal. Ctrl-C interrupts, Ctrl-Z stops, other keys wait."""
        self.departure.obey = self._end
        if self.departure.told:
            self._end()
        signal.signal(signal.SIGTSTP, self._pause)
        self._silence_keys()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Leave the terminal as it was, unless somebody else has taken it over."""
        if not self._is_over:
            self.hand_over()
            self._leave_screen()

    def _end(self) -> None:
        if not self._is_over:
            raise SystemExit(0)

    def _pause(self, number: int, frame: FrameType | None) -> None:
        """Give the terminal back to the shell; once we go on, take it again."""
        with self._lock:
            self._restore_keys()
            self._leave_screen()
            os.kill(os.getpid(), signal.SIGSTOP)
            self._silence_keys()
            if self.snapshot is not None:
                self._draw(self.snapshot)

    def _silence_keys(self) -> None:
        with contextlib.suppress(termios.error):
            modes = termios.tcgetattr(sys.stdin)
            self._modes = list(modes)
            modes[_LOCAL_MODES] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(sys.stdin, termios.TCSANOW, modes)

    def _restore_keys(self) -> None:
        with contextlib.suppress(termios.error):
            if self._modes:
                termios.tcsetattr(sys.stdin, termios.TCSANOW, self._modes)

    def _leave_screen(self) -> None:
        if self._drew:
            self._drew = False
            _write(_LEAVE)

    def hear(self, snapshot: Snapshot) -> None:
        """A snapshot came, on the monitor's thread."""
        with self._lock:
            self.snapshot = snapshot
            self.heard.set()
            if self._offer is not None:
                self._offer(snapshot)
            elif not self._is_over:
                self._draw(snapshot)

    def _draw(self, snapshot: Snapshot) -> None:
        # A fault in drawing is told by the screen, which will draw the same.
        with contextlib.suppress(Exception):
            if self._may_draw(snapshot):
                self._show(snapshot)

    def _show(self, snapshot: Snapshot) -> None:
        width, height = os.get_terminal_size(sys.stdout.fileno())
        heard = Watch(monotonic(), self._playback)
        heard.hear(snapshot, monotonic())
        lines = draw(heard.scene(View(), self._glyphs, monotonic()), width, height).lines
        if self._glyphs.ascii_only:
            lines = tuple(in_ascii(line) for line in lines)
        picture = drawn([(y, 0, width) for y in range(height)], lines, self._theme)
        first = "" if self._drew else ALTERNATE_SCREEN + _HIDE_CURSOR
        self._drew = True
        _write(first + picture)

    def hand_over(self) -> bool:
        """Draw no more: somebody else does. Whether there is a picture to take over; only once."""
        with self._lock:
            if self._is_over:
                return False
            self._is_over = True
            self._restore_keys()
            return self._drew

    def pass_on(self, offer: Callable[[Snapshot], None], known: Snapshot | None) -> None:
        """Give every snapshot from now on to ``offer``, beginning with one newer than ``known``."""
        with self._lock:
            self._offer = offer
            if self.snapshot is not None and self.snapshot is not known:
                offer(self.snapshot)


def _write(text: str) -> None:
    """All of a text to the terminal; nothing if it is gone."""
    data = text.encode()
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(sys.stdout.fileno(), data) :]
