"""One Xid, told twice: by the kernel log and by NVML.

Whichever comes first is the event. The other one, of the same code on the same GPU within five
seconds, is the same: each line of one pairs with one of the other, so that a burst is counted once.
"""

from __future__ import annotations

from collections import deque

from gputui.logs.kernel import KernelEvent

WITHIN_S = 5.0
_MOST_WAITING = 200


class Pairs:
    """Remembers the Xids that only one of the two has told yet."""

    def __init__(self) -> None:
        self._alone: deque[KernelEvent] = deque(maxlen=_MOST_WAITING)

    def partner(self, event: KernelEvent) -> KernelEvent | None:
        """The event that told the same before; None if this one is news."""
        if event.kind != "xid":
            return None
        for other in self._alone:
            if (
                other.told_by != event.told_by
                and (other.bus_id, other.code) == (event.bus_id, event.code)
                and abs(other.time_s - event.time_s) <= WITHIN_S
            ):
                self._alone.remove(other)
                return other
        self._alone.append(event)
        return None
