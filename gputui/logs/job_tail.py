"""Follow a job's log: a file that grows, in bytes, within bounds.

A log may be rotated away, truncated, a gigabyte long, or written faster than anybody reads. What is
there at the start is read back a little way; from then on only what is new is read.
"""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path

READ_BACK_BYTES = 256 << 10
"""How much is read of what is there already: the last words of a job that has just failed."""

MOST_BEHIND_BYTES = 16 << 20
"""Further behind than this, what is in between is passed over."""

_CHUNK_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class Piece:
    """What was read at once. ``fresh``: it begins a file, or follows what was passed over.

    ``live`` says that it was written since the log is followed; ``time_s`` is when the file was
    written last, for what is not.
    """

    data: bytes
    fresh: bool
    live: bool
    time_s: float


class JobTail:
    """Follows one file, which stays open however it is renamed.

    ``path`` is how it is opened: a name, or /proc/PID/fd/1. Given ``by_name``, another file that
    takes the name's place is followed in its turn. Raises OSError where it cannot be read, or is no
    regular file.
    """

    def __init__(self, path: str, *, by_name: bool = False) -> None:
        self._path = path
        self._by_name = by_name
        self._descriptor = _opened(path)
        held = os.fstat(self._descriptor)
        self.identity = held.st_dev, held.st_ino
        self._end = held.st_size
        self._offset = max(held.st_size - READ_BACK_BYTES, 0)
        self._fresh = True
        self._cut = self._offset > 0
        self.passed_over = 0
        """How many bytes were never looked at, for want of time."""

    def read(self, limit_bytes: int) -> list[Piece]:
        """Return what came since the last call, at most so many bytes of it."""
        pieces = self._read(limit_bytes)
        if self._by_name and not pieces and self._moved_on():
            pieces = self._read(limit_bytes)
        return pieces

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _read(self, limit_bytes: int) -> list[Piece]:
        pieces: list[Piece] = []
        try:
            held = os.fstat(self._descriptor)
            if held.st_size < self._offset:  # truncated: what follows begins anew
                self._offset = self._end = 0
                self._fresh, self._cut = True, False
            behind = held.st_size - self._offset
            if behind > MOST_BEHIND_BYTES:
                self.passed_over += behind - limit_bytes
                self._offset = held.st_size - limit_bytes
                self._fresh = self._cut = True
            while limit_bytes > 0 and held.st_size > self._offset:
                data = os.pread(self._descriptor, min(_CHUNK_BYTES, limit_bytes), self._offset)
                if not data:
                    break
                live = self._offset >= self._end
                self._offset += len(data)
                limit_bytes -= len(data)
                if self._cut:  # the rest of a line whose beginning is not known
                    self._cut = b"\n" not in data
                    data = data.partition(b"\n")[2]
                pieces.append(Piece(data, self._fresh, live, held.st_mtime))
                self._fresh = False
        except OSError:  # the disk, or a network file system: again next time
            pass
        return pieces

    def _moved_on(self) -> bool:
        """Turn to what now stands under the name, if that is another file."""
        with contextlib.suppress(OSError):
            now = os.stat(self._path)  # noqa: PTH116 (hot path)
            if (now.st_dev, now.st_ino) != self.identity:
                descriptor = _opened(self._path)
                self.close()
                self._descriptor = descriptor
                held = os.fstat(descriptor)
                self.identity = held.st_dev, held.st_ino
                self._offset = self._end = 0
                self._fresh, self._cut = True, False
                return True
        return False


def _opened(path: str) -> int:
    """A descriptor of a regular file; an OSError says why there is none."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(None, "is no regular file")
    return descriptor


def is_regular(path: str) -> bool:
    """Whether something is a regular file; raises OSError where nobody may know."""
    return stat.S_ISREG(Path(path).stat().st_mode)
