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

from gputui.silence import DRIVER
from gputui.sources.mark import MARK_BYTES

_WHOM = struct.Struct("<q")
_SINCE = struct.Struct("<d")
_SINCE_AT = _WHOM.size
_IDLE = 0
_FIRST = 1
"""What is added to a GPU's index, and to ``DRIVER``, so that fresh memory says: nobody."""


@dataclass(frozen=True, slots=True)
class Asking:
    """Whom the sampler is asking, a GPU's index or ``DRIVER``, and since when (monotonic clock)."""

    whom: int
    since_s: float


class Progress:
    """The shared mark, from the descriptor of memory that both have (fresh memory says nobody)."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, MARK_BYTES)

    def note(self, asked: int | None) -> None:
        """Say which GPU is about to be asked (``DRIVER`` for all), or None for nobody."""
        # The time goes first: whoever reads in between sees an old call as if it began just now.
        _SINCE.pack_into(self._memory, _SINCE_AT, time.monotonic())
        whom = _IDLE if asked is None else asked - DRIVER + _FIRST
        _WHOM.pack_into(self._memory, 0, whom)

    @property
    def asking(self) -> Asking | None:
        """Who is being asked, and since when; None for nobody."""
        whom = int(_WHOM.unpack_from(self._memory)[0])
        if whom == _IDLE:
            return None
        return Asking(whom + DRIVER - _FIRST, float(_SINCE.unpack_from(self._memory, _SINCE_AT)[0]))

    def close(self) -> None:
        """Let go of the memory and the descriptor."""
        self._memory.close()
        os.close(self.descriptor)
