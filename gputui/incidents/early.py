"""What the log said before anybody knew the GPUs, kept within bounds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from gputui.logs.kernel import KernelEvent

MOST_EARLY = 5000
"""More than is ever read back; a driver that hangs from the start lets more come."""

_OF_A_SORT = 20

_Sort = tuple[str, str | None, int | None]


@dataclass(frozen=True, slots=True)
class EarlyEvent:
    """An event, and whether it came just now or was read back."""

    event: KernelEvent
    live: bool

    @property
    def sort(self) -> _Sort:
        """What events have in common that say the same of the same GPU."""
        return self.event.kind, self.event.bus_id, self.event.code


class EarlyEvents:
    """Events in the order in which they came.

    When there are too many, those go that say what others say as well: of each sort the first ones
    and the last ones stay. ``dropped`` counts them.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._events: list[EarlyEvent] = []

    def add(self, event: KernelEvent, *, live: bool) -> None:
        """Keep one more."""
        self._events.append(EarlyEvent(event, live))
        if len(self._events) > MOST_EARLY:
            self._make_room()

    def take(self) -> list[EarlyEvent]:
        """All there are; afterwards there are none."""
        events, self._events = self._events, []
        return events

    def _make_room(self) -> None:
        before = len(self._events)
        count = Counter(one.sort for one in self._events)
        seen: Counter[_Sort] = Counter()
        kept = []
        for one in self._events:
            seen[one.sort] += 1
            if not _OF_A_SORT < seen[one.sort] <= count[one.sort] - _OF_A_SORT:
                kept.append(one)
        self._events = kept[-MOST_EARLY // 2 :]
        self.dropped += before - len(self._events)
