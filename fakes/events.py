"""What is still to happen in a world, in order.

Ties at one instant are broken by the actor's name, then by the order of scheduling; never by
thread or dict order.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from fakes.thermal import NEVER_US

Action = Callable[[], None]


class Ticket:
    """A scheduled action, which can be taken back until it runs."""

    __slots__ = ("action",)

    def __init__(self, action: Action) -> None:
        self.action: Action | None = action

    def cancel(self) -> None:
        """Take it back. Twice, or after it ran, does nothing."""
        self.action = None


class EventQueue:
    """Actions by time."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, str, int, Ticket]] = []
        self._count = 0

    def add(self, at_us: int, actor: str, action: Action) -> Ticket:
        """Schedule ``action`` at ``at_us`` on behalf of ``actor``."""
        ticket = Ticket(action)
        self._count += 1
        heapq.heappush(self._heap, (at_us, actor, self._count, ticket))
        return ticket

    def next_us(self) -> int:
        """When the next action is due; ``NEVER_US`` when there is none."""
        while self._heap and self._heap[0][3].action is None:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else NEVER_US

    def pop(self) -> Action:
        """Take the next action off the queue. Call only when ``next_us()`` says there is one."""
        ticket = heapq.heappop(self._heap)[3]
        action = ticket.action
        ticket.action = None
        if action is None:
            raise LookupError("the next action had been taken back")
        return action
