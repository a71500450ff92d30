"""What a node's driver tells those who asked to be told: Xids and memory errors, in order.

The driver announces an event when it happens; :class:`DriverEvents` remembers it under the next
number. A program asks by an *event set*: which types of which GPUs. It is told of each event that
comes after it asked, once, in order, each for itself however many there are.

A set belongs to the process that made it. Its forked children have it too, as they have its memory:
each process is told every event once, whoever else was. What the owner frees is gone for all; what
a child frees, for that child.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import IntFlag

from fakes.driver.handles import Handles

EVENTS_KEPT = 16_384
"""Events of a node that are remembered. Who waits for none of its events for longer than it takes
so many to come loses the oldest."""

SET_LIMIT = 4096
"""Event sets that a node's programs may have at one time."""


class EventType(IntFlag):
    """nvmlEventType*, as far as a data-centre GPU reports them."""

    SINGLE_BIT_ECC = 0x1
    DOUBLE_BIT_ECC = 0x2
    XID = 0x8


@dataclass(frozen=True, slots=True)
class DriverEvent:
    """One event. ``gpu`` is an index; ``data`` is an Xid's code, and 0 of any other event."""

    number: int
    at_us: int
    gpu: int
    type: EventType
    data: int = 0


class EventSet:
    """What one program asked to be told of, and how far its processes have been told."""

    def __init__(self, owner: int, last: int) -> None:
        self.owner = owner
        self._since: dict[tuple[int, int], int] = {}
        self._told = {owner: last}
        self._left: set[int] = set()

    @property
    def gpus(self) -> set[int]:
        """The GPUs that it asked about."""
        return {gpu for gpu, _ in self._since}

    def add(self, gpu: int, types: int, last: int) -> None:
        """Ask for events of ``types`` of a GPU that come after number ``last``.

        What was asked for before stays asked for.
        """
        for each in EventType:
            if types & each:
                self._since.setdefault((gpu, each), last)

    def wants(self, event: DriverEvent) -> bool:
        """Whether it asked for an event before it happened."""
        since = self._since.get((event.gpu, event.type))
        return since is not None and event.number > since

    def told(self, client: int) -> int:
        """The last event that a process was told; of a new child, that its parent was told."""
        return self._told.get(client, self._told[self.owner])

    def tell(self, client: int, number: int) -> None:
        """Note that a process was told everything up to ``number``."""
        self._told[client] = number

    def leave(self, client: int) -> None:
        """A child frees it."""
        self._left.add(client)

    def is_left_by(self, client: int) -> bool:
        """Whether a child has freed it."""
        return client in self._left


class DriverEvents:
    """A node's events, and the sets of those who wait for them.

    ``client`` is a number that the carrier gives to a process, the same for all its threads.
    """

    def __init__(self, seed: int = 0) -> None:
        self._events: deque[DriverEvent] = deque(maxlen=EVENTS_KEPT)
        self._sets: Handles[EventSet] = Handles(seed, SET_LIMIT)
        self.last = 0

    @property
    def set_count(self) -> int:
        """How many event sets there are."""
        return len(self._sets)

    def announce(self, at_us: int, gpu: int, type_: EventType, data: int = 0) -> None:
        """Tell everybody who asked for it that something happened to a GPU."""
        self.last += 1
        self._events.append(DriverEvent(self.last, at_us, gpu, type_, data))

    def make_set(self, client: int) -> int | None:
        """The handle of a new, empty set; None where there are too many."""
        return self._sets.give(EventSet(client, self.last))

    def find_set(self, handle: int, client: int) -> EventSet | None:
        """The set behind a handle; None where the process has none there."""
        found = self._sets.get(handle)
        return None if found is None or found.is_left_by(client) else found

    def free_set(self, handle: int, client: int) -> None:
        """Free a set that :meth:`find_set` finds."""
        found = self._sets.get(handle)
        if found is not None and found.owner != client:
            found.leave(client)
        else:
            self._sets.free(handle)

    def next_event(self, event_set: EventSet, client: int) -> DriverEvent | None:
        """The next event to tell a process, which then has been told; None where there is none."""
        first = self.last - len(self._events) + 1
        start = max(event_set.told(client) + 1, first)
        for number in range(start, self.last + 1):
            event = self._events[number - first]
            if event_set.wants(event):
                event_set.tell(client, number)
                return event
        event_set.tell(client, self.last)
        return None
