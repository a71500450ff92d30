"""The run's clock as programs on a node see it: a page that each of them maps.

Two numbers of 8 bytes, in nanoseconds: the calendar's time, and the time since the node came up
(chaos/sandbox/clock_park.h). It is changed only while nothing on the node runs.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from fakes.node import Node
from fakes.system.uptime import uptime_s

_TIMES = struct.Struct("=qq")
_US_NS = 1000


class ClockPage:
    """The page of one node. ``path`` is a file that is there."""

    def __init__(self, path: Path, node: Node) -> None:
        self._node = node
        self._shown_us = -1
        with path.open("r+b") as file:
            file.truncate(mmap.PAGESIZE)
            self._page = mmap.mmap(file.fileno(), mmap.PAGESIZE)
        self.show(0)

    def show(self, at_us: int) -> None:
        """It is this moment of the run now."""
        if at_us != self._shown_us:
            self._shown_us = at_us
            unix_ns = self._node.epoch.unix_us(at_us) * _US_NS
            up_ns = round(uptime_s(self._node, at_us) * 1_000_000) * _US_NS
            _TIMES.pack_into(self._page, 0, unix_ns, up_ns)

    def close(self) -> None:
        """Write no more."""
        self._page.close()
