"""The page that clients read answers from: its files, its layout, and how it is published.

``shim/page.c`` is the reader. All numbers are in the machine's own order, which is little-endian on
every machine that NVML runs on. The file ``page``::

    0      8  magic                     28     4  where the owner's word is, or 0
    8      4  layout's version          32    64  the owner's mutex (life.py)
    12     4  fingerprint of the table  4096   n  bank 0
    16     8  generation                4096+n n  bank 1
    24     4  what nvmlInit returns     (n stands at 96: 8 bytes)

A bank is a whole set of answers (``slots.py`` lays it out). The bank in force is the generation's
lowest bit; the other is filled and then published by adding one to the generation. A reader that
finds the generation changed starts over; a writer that dies half-way leaves the bank in force
whole. ``touched`` has a byte a slot, which clients set to say that they read it.
"""

from __future__ import annotations

import mmap
import os
import struct
import threading
from pathlib import Path

from fakes.nvml.life import Life
from fakes.nvml.table import FINGERPRINT

LAYOUT = 1
BANK_BYTES = 4 << 20
"""Room for the answers in force."""
TOUCHED_BYTES = 16384
"""How many slots the page may have."""

INIT_BLOCKS = 0xFFFFFFFF
"""In place of what nvmlInit returns: it does not return, until something else stands there."""

_MAGIC = b"gtunvml1"
_HEADER_BYTES = 4096
_GENERATION_AT, _INIT_CODE_AT, _OWNER_AT = 16, 24, 28
_LIFE_AT, _BANK_BYTES_AT = 32, 96


class Page:
    """The simulator's side of ``page`` and ``touched`` in a node's directory."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / "page"
        self._touched_path = directory / "touched"
        self.touched = _map_new(self._touched_path, TOUCHED_BYTES, 0o666)
        # Clients map the page while it is being made: it gets its name when it is whole.
        scratch = directory / ".page"
        self._map = _map_new(scratch, _HEADER_BYTES + 2 * BANK_BYTES, 0o644)
        self._generations = memoryview(self._map)[_GENERATION_AT : _GENERATION_AT + 8].cast("Q")
        self._lock = threading.Lock()
        self._life = Life(self._map, _LIFE_AT)
        struct.pack_into("8sII", self._map, 0, _MAGIC, LAYOUT, FINGERPRINT)
        struct.pack_into("I", self._map, _OWNER_AT, self._life.word_at)
        struct.pack_into("Q", self._map, _BANK_BYTES_AT, BANK_BYTES)
        scratch.replace(self._path)

    @property
    def generation(self) -> int:
        """How often something was published."""
        return self._generations[0]

    def set_init_code(self, code: int) -> None:
        """What nvmlInit returns from now on to processes that have not called it (0: success)."""
        struct.pack_into("I", self._map, _INIT_CODE_AT, code)

    def publish(self, bank: bytes | bytearray) -> None:
        """Put a bank in force; it has at most ``BANK_BYTES``."""
        following = self._generations[0] + 1
        start = _HEADER_BYTES + (following & 1) * BANK_BYTES
        self._map[start : start + len(bank)] = bank
        # Not all processors keep stores in order by themselves; a lock that is given and taken
        # again has the bank written before the generation.
        with self._lock:
            pass
        with self._lock:
            pass
        self._generations[0] = following

    def close(self) -> None:
        """Tell clients that nobody writes any more, and remove the files."""
        self._life.end()
        self._generations.release()
        self._map.close()
        self.touched.close()
        for path in (self._path, self._touched_path):
            path.unlink(missing_ok=True)


def _map_new(path: Path, size: int, mode: int) -> mmap.mmap:
    """A new, empty, shared file; one that an earlier simulator left is replaced, not reused.

    All of its room is taken at once: a disk that is full (an OSError that names the file) is better
    found now than by SIGBUS at some later answer.
    """
    path.unlink(missing_ok=True)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(fd, mode)
        try:
            os.posix_fallocate(fd, 0, size)
        except OSError as error:
            path.unlink()
            raise OSError(error.errno, error.strerror, str(path)) from error
        return mmap.mmap(fd, size)
    finally:
        os.close(fd)
