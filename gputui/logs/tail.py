"""Follow a kernel log: a file through rotation, truncation and rubbish, or /dev/kmsg.

Both give decoded lines and never block. What is there at the start is read back within bounds, so
that an incident from before the monitor started is seen.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Protocol

from gputui.lines import LineBuffer
from gputui.text import decoded

READ_BACK_BYTES = 4 << 20
"""How much of a file is read back at the start: some 40,000 lines, a few hundredths of a second."""

_CHUNK_BYTES = 256 * 1024
_CHUNKS_A_READ = 64
_KMSG_RECORD_BYTES = 8192
_KMSG_DEVICE = os.makedev(1, 11)
"""The kernel's admin-guide/devices.txt."""


class Tail(Protocol):
    """A log that is followed."""

    @property
    def stamped(self) -> bool:
        """Whether its lines tell exactly when they came."""

    @property
    def failure(self) -> str:
        """Why it cannot be followed after all; empty while it can."""

    def descriptor(self) -> int | None:
        """What to wait on; None where it has to be looked at from time to time."""

    def read_back(self) -> list[str]:
        """Return the lines that are there already, the oldest first; called once, first."""

    def read(self) -> list[str]:
        """Return the lines that came since; none when nothing did."""

    def close(self) -> None:
        """Let go of the log."""


class FileTail:
    """Follows a file by name.

    Rotated away (another file under the name) or truncated (shorter than what was read), it goes on
    with the new content from its beginning, having read the old one to its end. A file that is gone
    may come back.
    """

    stamped = False
    failure = ""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = LineBuffer()
        self._descriptor: int | None = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        self._offset = 0

    def descriptor(self) -> int | None:
        """None: a file is always readable."""
        return None

    def read_back(self) -> list[str]:
        """Return the last lines of the file, at most ``READ_BACK_BYTES`` of them."""
        if self._descriptor is None:
            return []
        size = os.fstat(self._descriptor).st_size
        self._offset = max(size - READ_BACK_BYTES, 0)
        cut = self._offset > 0
        lines = self._read_open()
        return lines[1:] if cut else lines

    def read(self) -> list[str]:
        """Return the lines that came since the last call."""
        lines = self._read_open()
        if self._moved_on():
            lines += self._read_open()
        return lines

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _read_open(self) -> list[str]:
        lines: list[bytes] = []
        if self._descriptor is None:
            return []
        for _ in range(_CHUNKS_A_READ):
            try:
                data = os.pread(self._descriptor, _CHUNK_BYTES, self._offset)
            except OSError:  # the disk, or a network file system: try again next time
                break
            if not data:
                break
            self._offset += len(data)
            lines += self._lines.feed(data)
        return [decoded(line) for line in lines]

    def _moved_on(self) -> bool:
        """Turn to what now stands under the name, if that is something else."""
        try:
            now = os.stat(self._path)  # noqa: PTH116 (hot path)
        except OSError:
            return False
        if self._descriptor is not None:
            held = os.fstat(self._descriptor)
            if (held.st_dev, held.st_ino) == (now.st_dev, now.st_ino):
                if held.st_size >= self._offset:
                    return False
                self._lines.clear()
                self._offset = 0
                return True
            if held.st_size > self._offset:
                return False
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError:
            return False
        self.close()
        self._lines.clear()
        self._descriptor, self._offset = descriptor, 0
        return True


class KmsgTail:
    """Follows /dev/kmsg: one record a read, the whole ring first."""

    stamped = False
    failure = ""

    def __init__(self, path: Path = Path("/dev/kmsg")) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        held = os.fstat(self._descriptor)
        if stat.S_ISCHR(held.st_mode) and held.st_rdev != _KMSG_DEVICE:
            # Containers have other devices in its place, some of which never end.
            os.close(self._descriptor)
            raise OSError(None, "is not the kernel's log")
        self._open = True

    def descriptor(self) -> int | None:
        """The device: it is readable when the kernel has spoken."""
        return self._descriptor if self._open else None

    def read_back(self) -> list[str]:
        """Return what the kernel's ring holds: since the boot, or as far back as it reaches."""
        return self.read()

    def read(self) -> list[str]:
        """Return the records that came since the last call."""
        lines: list[str] = []
        while self._open:
            try:
                record = os.read(self._descriptor, _KMSG_RECORD_BYTES)
            except OSError as error:
                if error.errno == errno.EPIPE:  # overwritten before we came: go on with the rest
                    continue
                break
            if not record:
                break
            # Lines that begin with a blank are the record's dictionary, not its message.
            lines.append(decoded(record.split(b"\n", 1)[0]))
        return lines

    def close(self) -> None:
        """Let go of the device."""
        if self._open:
            self._open = False
            os.close(self._descriptor)
