"""What the sampler is asking just now, readable from outside while it is stuck asking.

Eight bytes of memory shared by the sampler and its parent. A process that waits in a driver call
cannot say so; this was written before the call began.
"""

from __future__ import annotations

import mmap
import os
import struct

DRIVER = -1
"""Stands for the driver as a whole where a GPU's index would."""

_LAYOUT = struct.Struct("<q")
_IDLE = -2


class Progress:
    """The shared mark. The parent creates it and hands its descriptor to the sampler."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, _LAYOUT.size)

    @classmethod
    def create(cls) -> Progress:
        """Make a new mark that says nothing is being asked."""
        descriptor = os.memfd_create("gputui-progress")
        os.ftruncate(descriptor, _LAYOUT.size)
        progress = cls(descriptor)
        progress.note(None)
        return progress

    def note(self, asked: int | None) -> None:
        """Say which GPU is about to be asked (``DRIVER`` for all), or None for nobody."""
        _LAYOUT.pack_into(self._memory, 0, _IDLE if asked is None else asked)

    @property
    def asked(self) -> int | None:
        """The GPU that is being asked, ``DRIVER``, or None."""
        value = int(_LAYOUT.unpack_from(self._memory)[0])
        return value if value >= DRIVER else None

    def close(self) -> None:
        """Let go of the memory and the descriptor."""
        self._memory.close()
        os.close(self.descriptor)
