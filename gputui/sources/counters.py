"""Counters that only ever grow, and what to make of one that fell."""

from __future__ import annotations

from collections.abc import Mapping

_WRAPS = (1 << 32, 1 << 64)


def grown(before: int, now: int) -> int:
    """By how much a counter grew between two readings.

    One that fell from the top quarter of its width into the bottom quarter has wrapped round; any
    other has begun anew (a driver was reloaded, a device was reset), and has grown at least to
    where it stands.
    """
    if now >= before:
        return now - before
    for top in _WRAPS:
        if before < top:
            if before >= top - top // 4 and now < top // 4:
                return top - before + now
            break
    return now


class Meter:
    """The counters of one link, from reading to reading. Times are of a clock that never jumps."""

    def __init__(self) -> None:
        self._traffic: tuple[float, int, int] | None = None
        self._counters: dict[str, int] = {}
        self._counted_s: float | None = None

    def bytes_per_s(self, now_s: float, received: int, sent: int) -> tuple[int, int] | None:
        """Received and sent bytes a second since the last call; None at the first one."""
        before, self._traffic = self._traffic, (now_s, received, sent)
        if before is None or now_s <= before[0]:
            return None
        elapsed_s = now_s - before[0]
        return (
            round(grown(before[1], received) / elapsed_s),
            round(grown(before[2], sent) / elapsed_s),
        )

    def growth(
        self, now_s: float, counters: Mapping[str, int]
    ) -> tuple[dict[str, int], float | None]:
        """What grew since the last call, by how much, and in how many seconds.

        Nothing, and None, at the first call: what was counted before it is not of now. A counter
        that can be read again after it could not, or that is new, begins with this call.
        """
        before, counted_s = self._counters, self._counted_s
        self._counters, self._counted_s = dict(counters), now_s
        if counted_s is None:
            return {}, None
        grew = {
            name: by
            for name, now in counters.items()
            if name in before and (by := grown(before[name], now))
        }
        return grew, now_s - counted_s
