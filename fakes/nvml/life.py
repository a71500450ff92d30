"""A sign of life that the kernel takes away: how clients notice at once that a simulator died.

The simulator locks a robust mutex in the shared page and never unlocks it. When its thread ends,
by whatever way, the kernel takes the thread's id out of the mutex's word (futex(2):
FUTEX_OWNER_DIED), so that one load tells a client whether anybody still writes the page. No
heartbeat, no time-out.
"""

from __future__ import annotations

import ctypes
import mmap
import struct
import threading

_MUTEX_BYTES = 64
_PTHREAD_PROCESS_SHARED = 1
_PTHREAD_MUTEX_ROBUST = 1


class Life:
    """A robust mutex at ``at`` (64 bytes) in a shared mapping, held by the calling thread.

    That thread must be the one that lives as long as the simulator. ``word_at`` is the offset of
    the word with the thread's id, or 0 where the C library has no robust mutexes: there clients
    notice a dead simulator by their connections alone.
    """

    def __init__(self, shared: mmap.mmap, at: int) -> None:
        self.word_at = 0
        libc = ctypes.CDLL(None)
        attributes = ctypes.create_string_buffer(64)
        self._libc = libc
        self._shared = shared
        self._mutex = (ctypes.c_char * _MUTEX_BYTES).from_buffer(shared, at)
        try:
            ready = (
                libc.pthread_mutexattr_init(attributes) == 0
                and libc.pthread_mutexattr_setpshared(attributes, _PTHREAD_PROCESS_SHARED) == 0
                and libc.pthread_mutexattr_setrobust(attributes, _PTHREAD_MUTEX_ROBUST) == 0
                and libc.pthread_mutex_init(self._mutex, attributes) == 0
                and libc.pthread_mutex_lock(self._mutex) == 0
            )
        except AttributeError:
            ready = False
        if ready:
            # Where in the mutex the word is depends on the C library: it has the thread's id.
            words = struct.unpack_from(f"{_MUTEX_BYTES // 4}I", shared, at)
            if threading.get_native_id() in words:
                self.word_at = at + 4 * words.index(threading.get_native_id())

    def end(self) -> None:
        """Give the sign up; the mapping may be closed then."""
        if self.word_at:
            self._libc.pthread_mutex_unlock(self._mutex)
            # Also where another thread ends it, which may not unlock.
            struct.pack_into("I", self._shared, self.word_at, 0)
        del self._mutex
