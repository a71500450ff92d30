"""Whose turn it is: slow readings, spread over time so that they never come in a burst."""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from typing import NamedTuple

HEALTH_S = 10.0
"""How old a health reading may become."""

_AT_ONCE = float("-inf")
_GOLDEN = 0.6180339887
"""Multiples of the golden section, without their whole part, lie evenly between 0 and 1."""


class _Turn(NamedTuple):
    """Ordered as turns are taken: the most overdue first, of these reading by reading."""

    due_s: float
    reading: int
    gpu: int


class Turns:
    """Each slow reading of each GPU has its turn, again and again.

    A GPU that was just found is asked for everything at once. After that its readings stand evenly
    in their periods. ``periods_s`` are those of the readings, in the order in which a new GPU is
    asked. Times are of one clock, whichever; readings and GPUs are told by their positions.
    """

    def __init__(self, periods_s: Sequence[float]) -> None:
        self._periods_s = tuple(periods_s)
        self._turns: list[_Turn] = []
        self._fresh: set[tuple[int, int]] = set()
        self._now_s = _AT_ONCE

    def welcome(self, gpu: int) -> None:
        """A GPU was found, or found again: all of its readings are due."""
        readings = range(len(self._periods_s))
        self._fresh.update((reading, gpu) for reading in readings)
        others = [turn for turn in self._turns if turn.gpu != gpu]
        self._put([*others, *(_Turn(_AT_ONCE, reading, gpu) for reading in readings)])

    def hasten(self, readings: Collection[int]) -> None:
        """Something happened: these readings are due, of every GPU."""
        self._put(
            [turn._replace(due_s=_AT_ONCE) if turn.reading in readings else turn
             for turn in self._turns]
        )  # fmt: skip

    def dismiss(self) -> None:
        """Forget all GPUs."""
        self._turns.clear()

    def is_due(self, now_s: float) -> bool:
        """Whether it is somebody's turn."""
        if now_s < self._now_s:
            # The clock was set back: nobody shall wait until it has caught up.
            self._put([turn._replace(due_s=now_s) for turn in self._turns])
        self._now_s = now_s
        return bool(self._turns) and self._turns[0].due_s <= now_s

    def take(self, now_s: float) -> tuple[int, int] | None:
        """The GPU and the reading whose turn it is; None if it is nobody's."""
        if not self.is_due(now_s):
            return None
        _, reading, gpu = self._turns[0]
        period_s = self._periods_s[reading]
        if (reading, gpu) in self._fresh:
            self._fresh.discard((reading, gpu))
            place = 1 + reading + gpu * len(self._periods_s)
            period_s *= place * _GOLDEN % 1.0
        heapq.heapreplace(self._turns, _Turn(now_s + period_s, reading, gpu))
        return gpu, reading

    def _put(self, turns: list[_Turn]) -> None:
        heapq.heapify(turns)
        self._turns = turns
