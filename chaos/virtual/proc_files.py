"""Files of /proc that are read again and again: each is opened once."""

from __future__ import annotations

import os

_MOST_OPEN = 256
_MOST_BYTES = 4096


class ProcFiles:
    """Reads files of ``/proc/PID``, of as many processes as come and go."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._unused: set[str] = set()

    def read(self, path: str) -> bytes:
        """A file's text; nothing of a process that has ended."""
        descriptor = self._open.get(path)
        if descriptor is not None:
            self._unused.discard(path)
            try:
                return os.pread(descriptor, _MOST_BYTES, 0)
            except OSError:
                os.close(self._open.pop(path))  # it has ended; another may have its PID by now
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return b""
        if len(self._open) < _MOST_OPEN:
            self._open[path] = descriptor
        try:
            return os.pread(descriptor, _MOST_BYTES, 0)
        except OSError:
            return b""
        finally:
            if path not in self._open:
                os.close(descriptor)

    def forget_unused(self) -> None:
        """Close what was not read since this was last called."""
        for path in self._unused:
            os.close(self._open.pop(path))
        self._unused = set(self._open)

    def close(self) -> None:
        """Close all."""
        self._unused = set(self._open)
        self.forget_unused()
