"""Whoever receives everything that the monitor takes in and finds, in the capture format."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from gputui.recording import CaptureWriter


class Captures:
    """Several at a time. One that cannot be written to any more is given up, in words.

    A broken pipe is raised instead: whoever read it has gone, and nothing more is wanted.
    """

    def __init__(self, captures: Iterable[CaptureWriter]) -> None:
        self.notice = ""
        self._captures = list(captures)

    def add(self, capture: CaptureWriter) -> None:
        """Have one more receive what comes from now on."""
        self._captures.append(capture)

    def write(self, write: Callable[[CaptureWriter], None]) -> None:
        """Write the same to each."""
        for capture in list(self._captures):
            try:
                write(capture)
            except BrokenPipeError:
                raise
            except OSError as error:
                self._captures.remove(capture)
                self.notice = f"Recording stopped: {error.strerror}."
