"""What the sampler is asking just now, readable from outside while it is stuck asking.

Sixteen bytes of memory shared by the sampler and its parent. A process that waits in a driver call
cannot say so; this was written before the call began.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from dataclasses import dataclass

_WHOM = struct.Struct("<q")
_SINCE = struct.Struct("<d")
_SINCE_AT = _WHOM.size
_BYTES = _WHOM.size + _SINCE.size
_IDLE = -2


@dataclass(frozen=True, slots=True)
class Asking:
    """Whom the sampler is asking, a GPU's index or ``DRIVER``, and since when (monotonic clock)."""

    whom: int
    since_s: float


class Progress:
    """The shared mark. The parent creates it and hands its descriptor to the sampler."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, _BYTES)

    @classmethod
    def create(cls) -> Progress:
        """Make a new mark that says nothing is being asked."""
        descriptor = os.memfd_create("gputui-progress")
        os.ftruncate(descriptor, _BYTES)
        progress = cls(descriptor)
        progress.note(None)
        return progress

    def note(self, asked: int | None) -> None:
        """Say which GPU is about to be asked (``DRIVER`` for all), or None for nobody."""
        # The time goes first: whoever reads in between sees an old call as if it began just now.
        _SINCE.pack_into(self._memory, _SINCE_AT, time.monotonic())
        _WHOM.pack_into(self._memory, 0, _IDLE if asked is None else asked)

    @property
    def asking(self) -> Asking | None:
        """Who is being asked, and since when; None for nobody."""
        whom = int(_WHOM.unpack_from(self._memory)[0])
        if whom == _IDLE:
            return None
        return Asking(whom, float(_SINCE.unpack_from(self._memory, _SINCE_AT)[0]))

    def close(self) -> None:
        """Let go of the memory and the descriptor."""
        self._memory.close()
        os.close(self.descriptor)
