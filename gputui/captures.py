"""Whoever receives everything that the monitor takes in and finds, in the capture format."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from gputui.errors import SourceError
from gputui.recording import CaptureWriter

_DEVICES = Path("/dev")


def open_for_recording(path: Path) -> IO[str]:
    """Open a file to record into; what is there already is not written over.

    A FIFO or a device is as good as a file. Raises :class:`SourceError`.
    """
    try:
        if _DEVICES not in path.absolute().parents and path.is_file() and path.stat().st_size:
            raise SourceError(
                f"cannot record into {path}: it is there already and not empty. "
                "Name another file, or remove that one first"
            )
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise SourceError(f"cannot record into {path}: {error.strerror}") from None


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
