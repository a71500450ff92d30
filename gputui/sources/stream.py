"""A stream in the capture format that somebody else writes: a FIFO, a file or a descriptor."""

from __future__ import annotations

import os
import select
import stat

from gputui.errors import SourceError
from gputui.recording import Record
from gputui.silence import Hang
from gputui.sources.source import (
    RecordStream,
    Unplayed,
    is_regular,
    open_for_reading,
    refuse_what_is_no_recording,
)


class StreamSource(Unplayed):
    """``--source stream=PATH``: reads whatever comes, as it comes, to its end."""

    is_here = False
    is_live = False

    def __init__(self, path: str) -> None:
        self._descriptor: int | None = open_for_reading(path)
        self.finite = is_regular(self._descriptor)
        if self.finite:
            refuse_what_is_no_recording(path, self._descriptor)
        elif stat.S_ISCHR(os.fstat(self._descriptor).st_mode) and not os.isatty(self._descriptor):
            raise SourceError(f"{path} is a device; expected a FIFO or a file")
        self._stream = RecordStream(path)
        # A FIFO that nobody has opened yet reads as if it had ended; waiting on it tells the two
        # apart.
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)

    def hang(self, monotonic_s: float) -> Hang | None:
        """Unknown: the sampler is somewhere else."""
        return None

    @property
    def ended(self) -> bool:
        """Whether the writer has closed the stream."""
        return self._stream.ended

    @property
    def notice(self) -> str:
        """What is wrong with the stream, if anything is."""
        if self._stream.ended and not self.finite:
            return self._stream.notice or "The stream of readings has ended."
        return self._stream.notice

    def descriptors(self) -> list[int]:
        """The stream, until it ended."""
        return [] if self.ended or self._descriptor is None else [self._descriptor]

    def due_s(self, monotonic_s: float) -> float | None:
        """Never without being readable."""
        return None

    def read(self, monotonic_s: float) -> list[Record]:
        """Return what has come."""
        if self._descriptor is None or self.ended or not self._poll.poll(0):
            return []
        return self._stream.read(self._descriptor)

    def poke(self) -> None:
        """The writer cannot be asked."""

    def close(self) -> None:
        """Close the stream."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
