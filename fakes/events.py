"""What is still to happen in a world, in order.

Ties at one instant are broken by the actor's name, then by the order of scheduling; never by
thread or dict order. An action may *concern* some nodes only, so that one can tell when something
next happens to a node.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection

from fakes.hardware.thermal import NEVER_US

Action = Callable[[], None]

_Heap = list[tuple[int, str, int, "Ticket"]]


class Ticket:
    """A scheduled action, which can be taken back until it runs, and the nodes that it concerns
    (none: perhaps any).
    """

    __slots__ = ("action", "concerns")

    def __init__(self, action: Action, concerns: Collection[str] = ()) -> None:
        self.action: Action | None = action
        self.concerns = concerns

    def cancel(self) -> None:
        """Take it back. Twice, or after it ran, does nothing."""
        self.action = None


class EventQueue:
    """Actions by time."""

    def __init__(self) -> None:
        self._heap: _Heap = []
        self._of: dict[str, _Heap] = {}
        """The same by the node concerned; "" has those that may concern any."""
        self._count = 0

    def add(self, at_us: int, actor: str, action: Action, concerns: Collection[str] = ()) -> Ticket:
        """Schedule ``action`` at ``at_us`` on behalf of ``actor``."""
        ticket = Ticket(action, concerns)
        self._count += 1
        entry = (at_us, actor, self._count, ticket)
        heapq.heappush(self._heap, entry)
        for node in concerns or ("",):
            heapq.heappush(self._of.setdefault(node, []), entry)
        return ticket

    def next_us(self) -> int:
        """When the next action is due; ``NEVER_US`` when there is none."""
        return _first_us(self._heap)

    def next_on_us(self, node: str) -> int:
        """When the next action is due that may concern a node; ``NEVER_US`` when there is none."""
        none: _Heap = []
        return min(_first_us(self._of.get(name, none)) for name in (node, ""))

    def pop(self) -> Ticket:
        """Take the next action off the queue. Call only when ``next_us()`` says there is one."""
        ticket = heapq.heappop(self._heap)[3]
        if ticket.action is None:
            raise LookupError("the next action had been taken back")
        return ticket


def _first_us(heap: _Heap) -> int:
    """When the first action is due that was neither taken back nor has run."""
    while heap and heap[0][3].action is None:
        heapq.heappop(heap)
    return heap[0][0] if heap else NEVER_US
