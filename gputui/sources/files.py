"""The kernel's small files, /proc and /sys, below a folder that tests may give instead of ``/``."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from gputui.text import decoded

ROOT_VARIABLE = "GPUTUI_ROOT"
"""Names the folder below which ``proc``, ``sys`` and ``dev`` are looked for."""

NOT_THERE = "not there"
NO_PERMISSION = "no permission"
NOT_SUPPORTED = "not supported"

_WORDS = {
    errno.ENOENT: NOT_THERE,
    errno.ENOTDIR: NOT_THERE,
    errno.ENODEV: NOT_THERE,
    errno.ENXIO: NOT_THERE,
    errno.EACCES: NO_PERMISSION,
    errno.EPERM: NO_PERMISSION,
    errno.EOPNOTSUPP: NOT_SUPPORTED,
    errno.EINVAL: NOT_SUPPORTED,
}
_NUMBER = re.compile(r"(\d+)")


def system_root() -> Path:
    """The folder that the environment names, or ``/``."""
    return Path(os.environ.get(ROOT_VARIABLE) or "/")


def read(path: str, limit: int = 4096) -> bytes:
    """At most ``limit`` bytes of a file, in one read, as files of the kernel want it.

    Raises OSError.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        return os.read(descriptor, limit)
    finally:
        os.close(descriptor)


def read_text(path: str) -> str:
    """The first line of a file, printable and without its end. Raises OSError."""
    return first_line(read(path))


def first_line(data: bytes) -> str:
    """The first line of what was read, printable and without its end."""
    return decoded(data.partition(b"\n")[0])


class OpenFiles:
    """A few files that are read again and again, and stay open in between.

    A read from the beginning has the kernel make the file anew (Documentation/filesystems/
    sysfs.rst), at a tenth of what opening it costs.
    """

    def __init__(self) -> None:
        self._open: dict[str, int] = {}

    def read(self, path: str, limit: int = 4096) -> bytes:
        """At most ``limit`` bytes of a file. Raises OSError."""
        descriptor = self._open.get(path)
        if descriptor is not None:
            try:
                # The file of a device that went answers with an error; one on a disk lives on.
                if os.fstat(descriptor).st_nlink:
                    return os.pread(descriptor, limit, 0)
            except OSError:
                pass
            os.close(self._open.pop(path))
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        self._open[path] = descriptor
        return os.pread(descriptor, limit, 0)

    def __del__(self) -> None:
        while self._open:
            os.close(self._open.popitem()[1])


def names(folder: str) -> list[str]:
    """What lies in a folder, sorted as people count: ``mlx5_2`` before ``mlx5_10``.

    Raises OSError.
    """
    return sorted(os.listdir(folder), key=_as_people_count)  # noqa: PTH208 (names are wanted)


def why(error: OSError) -> str:
    """Why a file could not be read, in words."""
    return _WORDS.get(error.errno or 0) or (error.strerror or str(error)).lower()


def _as_people_count(name: str) -> tuple[tuple[int, str], ...]:
    parts = _NUMBER.split(name)
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)
