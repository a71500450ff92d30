"""A recording, played at the pace at which it was made."""

from __future__ import annotations

import os
from collections import deque

from gputui.errors import SourceError
from gputui.recording import Record
from gputui.silence import Hang
from gputui.sources.source import (
    RecordStream,
    is_regular,
    open_for_reading,
    refuse_what_is_no_recording,
)

_LONGEST_PAUSE_S = 5.0
"""A gap in the recording is waited out no longer than this."""


class ReplaySource:
    """``--source replay=FILE``: every record comes when it came, counted from the first one."""

    is_here = False
    is_live = False
    finite = True

    def __init__(self, path: str) -> None:
        self._descriptor: int | None = open_for_reading(path)
        if not is_regular(self._descriptor):
            os.close(self._descriptor)
            raise SourceError(f"{path} is no file; expected a recording (see stream= for pipes)")
        refuse_what_is_no_recording(path, self._descriptor)
        self._stream = RecordStream(path)
        self._waiting: deque[Record] = deque()
        self._due_s: float | None = None
        self._t = 0.0

    def hang(self, monotonic_s: float) -> Hang | None:
        """None: it has all happened."""
        return None

    @property
    def ended(self) -> bool:
        """Whether the last record has been given out."""
        return self._stream.ended and not self._waiting

    @property
    def notice(self) -> str:
        """What is wrong with the recording, or that it is over."""
        return self._stream.notice or ("The recording is over." if self.ended else "")

    def descriptors(self) -> list[int]:
        """None: a file is always readable, but not always due."""
        return []

    def due_s(self, monotonic_s: float) -> float | None:
        """When the next record is due."""
        if self.ended:
            return None
        if self._due_s is None:
            return 0.0
        return max(self._due_s - monotonic_s, 0.0)

    def read(self, monotonic_s: float) -> list[Record]:
        """Return the records that are due."""
        records: list[Record] = []
        while self._fill():
            t = self._waiting[0].t
            if self._due_s is None:
                self._due_s, self._t = monotonic_s, t
            self._due_s += min(max(t - self._t, 0.0), _LONGEST_PAUSE_S)
            self._t = t
            if self._due_s > monotonic_s:
                break
            records.append(self._waiting.popleft())
        return records

    def poke(self) -> None:
        """A recording cannot be hurried."""

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _fill(self) -> bool:
        """Have a record waiting; False at the end."""
        while not self._waiting and not self._stream.ended and self._descriptor is not None:
            self._waiting.extend(self._stream.read(self._descriptor))
        return bool(self._waiting)
