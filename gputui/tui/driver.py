"""The terminal: keys in, escape sequences out.

Textual's driver wakes ten times a second to see whether it should end, and takes up to a fifth of a
second to do so. This one sleeps until there is input, a key sequence to give up on, or the end.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from codecs import getincrementaldecoder
from typing import Any, TextIO

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from gputui.tui.opening import ALTERNATE_SCREEN

_READ_BYTES = 4096


class _Terminal:
    """Standard output to whoever writes to it; what cannot be written any more is lost.

    Textual's writer would end on an error, and its queue, which nobody empties then, would keep the
    program from ending.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def write(self, text: str) -> None:
        """Write some text."""
        with contextlib.suppress(OSError):
            self._out.write(text)

    def flush(self) -> None:
        """Send it off."""
        with contextlib.suppress(OSError):
            self._out.flush()

    def fileno(self) -> int:
        """Its descriptor."""
        return self._out.fileno()


class TerminalDriver(LinuxDriver):
    """Reads standard input and draws on standard output, so that ``gputui 2>log`` works."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._file = _Terminal(sys.__stdout__ or sys.stdout)  # type: ignore[assignment]
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        self._has_picture = False

    def start_application_mode(self) -> None:
        """Take the terminal, and the picture on it if there is one."""
        take_over = getattr(self._app, "take_over", None)
        self._has_picture = take_over is not None and take_over()
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def write(self, data: str) -> None:
        """Write to the terminal, but leave a picture that is there as it is."""
        if self._has_picture and data == ALTERNATE_SCREEN:
            self._has_picture = False
            return
        super().write(data)

    def run_input_thread(self) -> None:
        """Read keys until told to end, or until the terminal is gone: then the program ends too."""
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, _READ_BYTES)  # left from before the program was suspended
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        while not self.exit_event.is_set():
            give_up_s = parser._timeout_time
            timeout_s = None if give_up_s is None else max(give_up_s - time.monotonic(), 0.0)
            ready, _, _ = select.select([self.fileno, self._wake_read], [], [], timeout_s)
            if self.fileno in ready:
                data = self._read()
                if not data:
                    self._loop.call_soon_threadsafe(self._app.exit)
                    return
                for event in parser.feed(decode(data)):
                    self.process_message(event)
            for event in parser.tick():
                self.process_message(event)

    def _read(self) -> bytes:
        """What was typed; nothing when the terminal is gone."""
        try:
            return os.read(self.fileno, _READ_BYTES)
        except OSError:
            return b""

    def disable_input(self) -> None:
        """End the input thread at once."""
        os.write(self._wake_write, b".")
        super().disable_input()
