"""Leaving in time, whatever goes on: told by a signal, or by the terminal's going away.

Whoever draws is asked to end, and mostly does at once. But the main thread may be busy (importing,
or writing to a terminal that no longer takes anything); then the program ends without it.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""The last is Ctrl-C's until somebody reads it as a key."""

_PATIENCE_S = 0.8
"""How long whoever draws may take to leave the terminal as it was."""

_STOP_S = 0.3
_NOTHING_BUT_ITS_END = 0
"""A poll for no event still tells that the terminal hung up, or failed (poll(2))."""

_RESET = (
    "\x1b[?2026l\x1b[?2004l\x1b[?2048l\x1b[?7h"
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
    "\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"
)
"""Undoes every mode that is ever set: to reset one that is not set changes nothing."""


class Departure:
    """To be used in a ``with``, on the main thread. ``stop`` ends what else there is to be ended.

    ``obey`` is what is called, on the main thread, when the program is told to end; it is for
    whoever draws to set. ``told`` says that it has been.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self.obey: Callable[[], None] = _nothing
        self.told = False
        self._stop = stop
        self._modes: list[Any] | None = None

    def __enter__(self) -> Departure:
        """Listen from now on, to signals and to the terminal."""
        with contextlib.suppress(termios.error):
            self._modes = termios.tcgetattr(sys.stdin)
        for number in _SIGNALS:
            signal.signal(number, self._hear)
        threading.Thread(target=self._watch, name="departure", daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        """Whoever drew has left: nothing is asked of anybody any more."""
        self.obey = _nothing

    def _watch(self) -> None:
        """Wait for the terminal's end: without a session of one's own no signal tells it."""
        poll = select.poll()
        poll.register(sys.stdin.fileno(), _NOTHING_BUT_ITS_END)
        poll.poll()
        os.kill(os.getpid(), signal.SIGHUP)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if not self.told:
            self.told = True
            threading.Thread(target=self._insist, name="deadline", daemon=True).start()
        self.obey()

    def _insist(self) -> None:
        """End the program if it has not ended in time."""
        time.sleep(_PATIENCE_S)
        stopper = threading.Thread(target=self._stop, daemon=True)
        stopper.start()
        self._restore()
        stopper.join(_STOP_S)
        os._exit(0)

    def _restore(self) -> None:
        """Leave the terminal as it was, as far as it takes it without waiting."""
        with contextlib.suppress(OSError):
            out = sys.stdout.fileno()
            os.set_blocking(out, False)
            try:
                os.write(out, _RESET.encode())
            finally:
                os.set_blocking(out, True)
        with contextlib.suppress(termios.error):
            if self._modes is not None:
                termios.tcsetattr(sys.stdin, termios.TCSANOW, self._modes)


def _nothing() -> None:
    """Nobody draws."""
