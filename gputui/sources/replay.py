"""A recording, played: at its own pace or another one, from any place in it."""

from __future__ import annotations

import os
from collections import deque

from gputui.errors import SourceError
from gputui.recording import CaptureReader, Record, RecordingError, SampleRecord
from gputui.silence import Hang
from gputui.sources.playback import Playback
from gputui.sources.source import (
    LINE_BYTES,
    RecordStream,
    is_regular,
    open_for_reading,
    refuse_what_is_no_recording,
)

SHOWN_BEFORE_S = 1800.0
"""Of what lies before the place that is gone to, so much is shown: histories begin there."""

_MOST_AT_ONCE = 100
_TAIL_BYTES = 1 << 18


class ReplaySource:
    """``--source replay=FILE``: every record comes when it came, counted from the first one.

    What a recording means at a place depends on all that stands before it. So to go back is to
    begin anew and to pass over what lies before the place, which takes a second for each quarter of
    an hour or so; ``restarts`` counts how often that was done.
    """

    is_here = False
    is_live = False
    finite = True

    def __init__(self, path: str) -> None:
        self._descriptor: int | None = open_for_reading(path)
        if not is_regular(self._descriptor):
            os.close(self._descriptor)
            raise SourceError(f"{path} is no file; expected a recording (see stream= for pipes)")
        refuse_what_is_no_recording(path, self._descriptor)
        self.restarts = 0
        self.playback = Playback(_end_s(path, self._descriptor))
        self._path = path
        self._stream = RecordStream(path)
        self._waiting: deque[Record] = deque()
        self._given_s = 0.0
        self._target_s = 0.0

    def hang(self, monotonic_s: float) -> Hang | None:
        """None: it has all happened."""
        return None

    @property
    def ended(self) -> bool:
        """Whether the last record has been given out."""
        return self._stream.ended and not self._waiting

    @property
    def is_passing_over(self) -> bool:
        """Whether what was given out last lies far before the place that is gone to."""
        return self._given_s < self._target_s - SHOWN_BEFORE_S

    @property
    def notice(self) -> str:
        """What is wrong with the recording, or that it is over."""
        return self._stream.notice or ("The recording is over." if self.ended else "")

    def descriptors(self) -> list[int]:
        """None: a file is always readable, but not always due."""
        return []

    def due_s(self, monotonic_s: float) -> float | None:
        """When the next record is due."""
        if self._descriptor is None or self.ended:
            return None
        if not self._waiting:
            return 0.0
        return self.playback.wait_s(self._waiting[0].t, monotonic_s)

    def read(self, monotonic_s: float) -> list[Record]:
        """Return the records that are due, some of them where they are many."""
        wanted_s = self.playback.take_wanted()
        if wanted_s is not None:
            self._go_to(wanted_s)
        records: list[Record] = []
        while len(records) < _MOST_AT_ONCE and self._fill():
            record = self._waiting[0]
            is_reading = isinstance(record, SampleRecord)
            if not self.playback.is_due(record.t, monotonic_s, is_reading=is_reading):
                break
            self._given_s = record.t
            records.append(self._waiting.popleft())
        self.playback.note_end(is_over=self.ended)
        return records

    def poke(self) -> None:
        """A recording cannot be hurried."""

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _go_to(self, at_s: float) -> None:
        self._target_s = at_s
        if at_s >= self._given_s or self._descriptor is None:
            return
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        self._stream = RecordStream(self._path)
        self._waiting.clear()
        self._given_s = 0.0
        self.restarts += 1

    def _fill(self) -> bool:
        """Have a record waiting; False at the end."""
        while not self._waiting and not self._stream.ended and self._descriptor is not None:
            self._waiting.extend(self._stream.read(self._descriptor))
        return bool(self._waiting)


def _end_s(path: str, descriptor: int) -> float | None:
    """The time of the last whole record of a file; None where it cannot be told."""
    size = os.fstat(descriptor).st_size
    length = _TAIL_BYTES
    while True:
        length = min(length, size, LINE_BYTES)
        lines = os.pread(descriptor, length, size - length).split(b"\n")
        for line in reversed(lines if length == size else lines[1:]):
            try:
                record = CaptureReader(path).read(line)
            except RecordingError:
                continue
            if record is not None:
                return record.t
        if length in (size, LINE_BYTES):
            return None
        length *= 8
