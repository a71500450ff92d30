"""Whether anything in some directories may have changed since somebody last asked (inotify(7)).

To ask costs one system call; to look at every file of a node's /etc would cost each call of a
look-alike as much as all the rest of it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE, _DELETE_SELF = 0x40, 0x80, 0x100, 0x200, 0x400
_WATCHED = (
    _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE | _DELETE_SELF
)
_ONLY_FOLDERS, _NOT_LINKS = 0x01000000, 0x02000000
_MANY_BYTES = 1 << 16

_libc = ctypes.CDLL(None, use_errno=True)


class Changes:
    """Watches directories. Where the kernel refuses that (a user may have so many), anything may
    have changed at any time.
    """

    def __init__(self) -> None:
        self._descriptor: int = _libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)

    def watch(self, folder: str) -> None:
        """Watch a directory too; one that is watched already stays so. Look at it after that."""
        if self._descriptor < 0:
            return
        mask = ctypes.c_uint32(_WATCHED | _ONLY_FOLDERS | _NOT_LINKS)
        if _libc.inotify_add_watch(self._descriptor, os.fsencode(folder), mask) < 0:
            self.close()

    def are_possible(self) -> bool:
        """Whether anything in those directories may have changed since the last call."""
        if self._descriptor < 0:
            return True
        some = False
        with contextlib.suppress(BlockingIOError):
            while os.read(self._descriptor, _MANY_BYTES):
                some = True
        return some

    def close(self) -> None:
        """Watch no more."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
