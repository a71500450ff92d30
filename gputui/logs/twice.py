"""One Xid, told twice: by the kernel log and by NVML.

Whichever comes first is the event. The other one, of the same code on the same GPU within five
seconds, is the same: each line of one pairs with one of the other, so that a burst is counted once.
"""

from __future__ import annotations

from collections import deque

from gputui.logs.kernel import KernelEvent

WITHIN_S = 5.0
_MOST_OF_A_SORT = 100
_MOST_SORTS = 200

_Sort = tuple[str | None, int | None]


class Pairs:
    """Remembers the Xids that only one of the two has told yet, by GPU and code."""

    def __init__(self) -> None:
        self._alone: dict[_Sort, deque[KernelEvent]] = {}

    def partner(self, event: KernelEvent) -> KernelEvent | None:
        """The event that told the same before; None if this one is news."""
        if event.kind != "xid":
            return None
        sort = (event.bus_id, event.code)
        if sort not in self._alone and len(self._alone) >= _MOST_SORTS:
            del self._alone[next(iter(self._alone))]
        alone = self._alone.setdefault(sort, deque(maxlen=_MOST_OF_A_SORT))
        while alone and alone[0].told_by != event.told_by:
            other = alone.popleft()
            if abs(other.time_s - event.time_s) <= WITHIN_S:
                return other
        alone.append(event)
        return None
