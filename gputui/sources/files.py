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
    return decoded(read(path).partition(b"\n")[0])


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
