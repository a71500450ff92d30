"""What rules may look back on: the last minute and a half of readings, and the log's events."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from gputui.incidents.thresholds import Thresholds
from gputui.logs.kernel import KernelEvent
from gputui.model import GpuSample, NodeSample

WINDOW_S = 90.0
_MOST_SAMPLES = 1000
_EVENTS_OF_A_SORT = 100
_MOST_SORTS = 500

DEFAULTS = Thresholds()

Value = TypeVar("Value")

_Sort = tuple[str | None, str, int | None]


class History:
    """Bounded memory of one node, oldest first. The present sample and event are part of it.

    ``thresholds`` are the numbers that rules go by.
    """

    def __init__(self, thresholds: Thresholds = DEFAULTS) -> None:
        self.thresholds = thresholds
        self.samples: deque[NodeSample] = deque(maxlen=_MOST_SAMPLES)
        self._events: dict[_Sort, deque[KernelEvent]] = {}

    def add_sample(self, sample: NodeSample) -> None:
        """Remember a sample (without its processes), and forget what is too old.

        A sample of the same moment takes the place of the one before it.
        """
        if self.samples and self.samples[-1].time_s == sample.time_s:
            self.samples.pop()
        self.samples.append(replace(sample, processes=()))
        while sample.time_s - self.samples[0].time_s > WINDOW_S and len(self.samples) > 2:
            self.samples.popleft()

    def add_event(self, event: KernelEvent, *, instead_of: KernelEvent | None = None) -> None:
        """Remember an event of the kernel log, in the place of one that told the same.

        Each sort (GPU, kind and code) has a memory of its own, so that a flood of one does not
        wash away another.
        """
        sort = (event.bus_id, event.kind, event.code)
        events = self._events.pop(sort, None)
        if events is None:
            events = deque(maxlen=_EVENTS_OF_A_SORT)
            if len(self._events) >= _MOST_SORTS:
                del self._events[next(iter(self._events))]
        self._events[sort] = events  # the sort heard last stands last
        if instead_of is not None and instead_of in events:
            events[events.index(instead_of)] = event
        else:
            events.append(event)

    def series(
        self, index: int, read: Callable[[GpuSample], Value | None], *, last_s: float = WINDOW_S
    ) -> list[tuple[float, Value]]:
        """What ``read`` gives of one GPU in the last seconds: (time, value), missing ones out."""
        if not self.samples:
            return []
        since_s = self.samples[-1].time_s - last_s
        found = []
        for sample in self.samples:
            if sample.time_s < since_s:
                continue
            for gpu in sample.gpus:
                if gpu.index == index and (value := read(gpu)) is not None:
                    found.append((sample.time_s, value))
        return found

    def events_on(self, gpu: GpuSample) -> Iterator[KernelEvent]:
        """The log's events that name a GPU's PCI address, oldest first."""
        found = [
            event
            for (bus_id, _, _), events in self._events.items()
            if bus_id and bus_id == gpu.bus_id
            for event in events
        ]
        return iter(sorted(found, key=lambda event: event.time_s))

    def gpu_at(self, bus_id: str) -> GpuSample | None:
        """The GPU at a PCI address, as last read."""
        if not self.samples:
            return None
        return next((gpu for gpu in self.samples[-1].gpus if gpu.bus_id == bus_id), None)
