"""What a source is to the monitor: a stream of records that never makes it wait."""

from __future__ import annotations

import os
import stat
from typing import Protocol

from gputui.errors import SourceError
from gputui.lines import LineBuffer
from gputui.recording import CaptureReader, Record, RecordingError
from gputui.silence import Hang
from gputui.sources.playback import Playback

LINE_BYTES = 16 << 20
"""The longest line that is read: far more than a sample of a full node."""

_CHUNK_BYTES = 1 << 18
_HEAD_BYTES = 1 << 20


class Source(Protocol):
    """Where records come from."""

    @property
    def is_here(self) -> bool:
        """Whether it is this machine, now."""

    @property
    def is_live(self) -> bool:
        """Whether it is a machine, here or elsewhere, as it is now: worth remembering."""

    @property
    def finite(self) -> bool:
        """Whether it comes to its end by itself, so that how it ends is what counts."""

    @property
    def ended(self) -> bool:
        """Whether nothing more will come."""

    @property
    def notice(self) -> str:
        """One line about the source for people; empty when all is well."""

    @property
    def playback(self) -> Playback | None:
        """How it is played, where it is a recording that can be moved in."""

    @property
    def restarts(self) -> int:
        """How often it began again from its beginning."""

    @property
    def is_passing_over(self) -> bool:
        """Whether what it gives out now is not to be shown, but only leads to what is."""

    def hang(self, monotonic_s: float) -> Hang | None:
        """The driver call that does not return, where that is known."""

    def descriptors(self) -> list[int]:
        """What to wait on for reading; none while there is nothing to wait on."""

    def due_s(self, monotonic_s: float) -> float | None:
        """In how many seconds to read although the descriptors are silent; None for never."""

    def read(self, monotonic_s: float) -> list[Record]:
        """Return what has come. Never blocks."""

    def poke(self) -> None:
        """Ask for a sample at once, where the source can be asked."""

    def close(self) -> None:
        """Let go of it, without waiting for anybody."""


class Unplayed:
    """What sources have in common that are not recordings to be moved in."""

    playback: Playback | None = None
    restarts = 0
    is_passing_over = False


class RecordStream:
    """Bytes from a descriptor, as records; what is not in the format is counted and passed over."""

    def __init__(self, name: str) -> None:
        self.ended = False
        self.notice = ""
        self._name = name
        self._lines = LineBuffer(LINE_BYTES)
        self._reader = CaptureReader(name)

    def read(self, descriptor: int) -> list[Record]:
        """Return the records that have come."""
        try:
            data = os.read(descriptor, _CHUNK_BYTES)
        except BlockingIOError:
            return []
        except OSError as error:
            self.notice = f"{self._name}: {error.strerror}"
            data = b""
        if not data:
            self.ended = True
            return self.records([self._lines.rest()]) if self._lines.pending else []
        return self.records(self._lines.feed(data))

    def records(self, lines: list[bytes]) -> list[Record]:
        """Return the records on whole lines."""
        records = []
        for line in lines:
            try:
                record = self._reader.read(line)
            except RecordingError as error:
                self.notice = str(error)
            else:
                if record is not None:
                    records.append(record)
        return records


def open_for_reading(path: str) -> int:
    """Open a file, a FIFO or ``/dev/fd/N`` so that reading never blocks.

    An inherited descriptor is used as it is: a socket cannot be opened by name.
    """
    folder, _, number = path.rpartition("/")
    try:
        if folder == "/dev/fd" and number.isdecimal():
            descriptor = os.dup(int(number))
            os.set_blocking(descriptor, False)
        else:
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise SourceError(f"{path} is a directory; expected a stream or a recording")
    except OSError as error:
        raise SourceError(f"cannot read {path}: {error.strerror}") from None
    return descriptor


def refuse_what_is_no_recording(path: str, descriptor: int) -> None:
    """Look at the first line of a file; raises :class:`SourceError` if it is in another format."""
    head = os.pread(descriptor, _HEAD_BYTES, 0)
    number, line = next(
        ((number, line) for number, line in enumerate(head.split(b"\n"), 1) if line.strip()),
        (1, b""),
    )
    if not line:
        raise SourceError(f"{path} is no recording: it is empty")
    try:
        CaptureReader(path).read(line)
    except RecordingError as error:
        why = str(error).partition(": ")[2]
        raise SourceError(f"{path} is no recording: line {number}: {why}") from None


def is_regular(descriptor: int) -> bool:
    """Whether a descriptor is a plain file, which has an end."""
    return stat.S_ISREG(os.fstat(descriptor).st_mode)
