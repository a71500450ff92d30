"""Each GPU's readings of the last minute and a half, for rules that look back on one GPU."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from operator import attrgetter
from typing import Any, TypeVar

from gputui.model import GpuSample, NodeSample

Value = TypeVar("Value")


_counters: Callable[[GpuSample], tuple[Any, ...]] = attrgetter(
    "pcie_replays", "nvlink_crc_errors", "nvlink_replay_errors", "nvlink_recovery_errors"
)
"""The counters of errors that rules look back on at every sample, and that hardly ever change."""


class Lines:
    """Follows a queue of samples: what is added to it or dropped from it is so here as well."""

    def __init__(self) -> None:
        self._of_gpu: dict[int, deque[tuple[float, GpuSample]]] = {}
        self._counters: dict[int, tuple[Any, ...]] = {}
        self._changed_s: dict[int, float] = {}

    def add(self, sample: NodeSample) -> None:
        """A sample was added at the end."""
        for gpu in sample.gpus:
            self._of_gpu.setdefault(gpu.index, deque()).append((sample.time_s, gpu))
            self._note_counters(gpu, sample.time_s)

    def counters_changed_s(self, index: int) -> float:
        """When a counter of errors of a GPU last stood otherwise than before; 0 for never."""
        return self._changed_s.get(index, 0.0)

    def _note_counters(self, gpu: GpuSample, time_s: float) -> None:
        """One that is read for the first time, or not at all, has not changed."""
        now = _counters(gpu)
        before = self._counters.get(gpu.index)
        if now == before:
            return
        pairs = list(zip(now, before or now, strict=True))
        self._counters[gpu.index] = tuple(old if new is None else new for new, old in pairs)
        if any(new != old for new, old in pairs if None not in (new, old)):
            self._changed_s[gpu.index] = time_s

    def drop_first(self, sample: NodeSample) -> None:
        """The first sample was dropped."""
        for gpu in sample.gpus:
            line = self._of_gpu[gpu.index]
            line.popleft()
            if not line:
                del self._of_gpu[gpu.index]

    def drop_last(self, sample: NodeSample) -> None:
        """The last sample was dropped."""
        for gpu in sample.gpus:
            self._of_gpu[gpu.index].pop()

    def series(
        self, index: int, since_s: float, read: Callable[[GpuSample], Value | None]
    ) -> list[tuple[float, Value]]:
        """What ``read`` gives of one GPU since a time, oldest first; missing ones are left out."""
        found: list[tuple[float, Value]] = []
        for time_s, gpu in reversed(self._of_gpu.get(index, ())):
            if time_s < since_s:
                break
            value = read(gpu)
            if value is not None:
                found.append((time_s, value))
        found.reverse()
        return found
