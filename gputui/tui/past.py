"""What was shown in the last minutes, to be looked at again, in little memory."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass

from gputui.model import Snapshot
from gputui.tui.packing import Packed, packed, unpacked

MOST_MOMENTS = 600
"""Ten minutes at a reading a second."""

MOST_BYTES = 2 << 20
"""Half of it where a node is very full; packed, a snapshot of 8 GPUs takes two or three KiB."""

_LEAST_BETWEEN_S = 0.5
"""What comes sooner after the moment before it takes its place."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What was known at ``now_s``, on the source's clock (Unix time). ``number`` counts moments."""

    number: int
    now_s: float
    snapshot: Snapshot


class Past:
    """Moments, oldest first, each with a number that stays its own. The oldest give way."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()
        self._packed: deque[Packed] = deque()
        self._first = 0
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._times)

    @property
    def oldest(self) -> int:
        """The number of the first moment that is still known."""
        return self._first

    @property
    def newest(self) -> int:
        """The number of the last moment; one less than ``oldest`` where there is none."""
        return self._first + len(self._times) - 1

    @property
    def span_s(self) -> tuple[float, float]:
        """When the oldest moment was, and when the newest; there must be one."""
        return self._times[0], self._times[-1]

    def add(self, snapshot: Snapshot, now_s: float) -> None:
        """Remember a snapshot."""
        if self._times and now_s - self._times[-1] < _LEAST_BETWEEN_S:
            self._times.pop()
            self._bytes -= len(self._packed.pop().readings)
        self._times.append(now_s)
        self._packed.append(packed(snapshot))
        self._bytes += len(self._packed[-1].readings)
        while len(self._times) > 1 and (
            len(self._times) > MOST_MOMENTS or self._bytes > MOST_BYTES
        ):
            self._times.popleft()
            self._bytes -= len(self._packed.popleft().readings)
            self._first += 1

    def clear(self) -> None:
        """Forget everything: another time begins."""
        self._first = self.newest + 1
        self._times.clear()
        self._packed.clear()
        self._bytes = 0

    def moment(self, number: int) -> Moment:
        """The moment of that number, or the nearest one that is known; there must be one."""
        number = min(max(number, self.oldest), self.newest)
        at = number - self._first
        return Moment(number, self._times[at], unpacked(self._packed[at]))

    def at(self, now_s: float) -> int:
        """The number of the last moment that was not after ``now_s``; the first one before all."""
        return self._first + max(bisect_right(self._times, now_s) - 1, 0)
