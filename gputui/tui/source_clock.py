"""The time at the source, between its readings.

Ages count on the clock of the node that is watched, which may be another machine's, or a
recording's. Its readings tell that clock; between them it runs on with ours.
"""

from __future__ import annotations


class SourceClock:
    """Reads a foreign clock from the stamps on its samples. All arguments are seconds."""

    __slots__ = ("_arrival_s", "_gap_s", "_newest_s", "_offset_s", "_started_s")

    def __init__(self, monotonic_s: float) -> None:
        self._started_s = monotonic_s
        self._arrival_s: float | None = None
        self._newest_s: float | None = None
        self._offset_s = 0.0
        self._gap_s = 1.0

    def hear(self, time_s: float, monotonic_s: float) -> None:
        """A snapshot stamped ``time_s`` arrived. One with an old stamp does not turn time back."""
        offset_s = time_s - monotonic_s
        if self._newest_s is None:
            self._offset_s = offset_s
            self._newest_s = time_s
        elif time_s > self._newest_s:
            self._gap_s = time_s - self._newest_s
            self._newest_s = time_s
            self._offset_s = max(self._offset_s, offset_s)
        self._arrival_s = monotonic_s

    def now_s(self, monotonic_s: float) -> float:
        """The source's time now; 0 before it was heard."""
        return 0.0 if self._newest_s is None else monotonic_s + self._offset_s

    def silent_s(self, monotonic_s: float) -> float:
        """How long nothing has arrived, or how long the first snapshot has been awaited."""
        since_s = self._started_s if self._arrival_s is None else self._arrival_s
        return max(monotonic_s - since_s, 0.0)

    @property
    def patience_s(self) -> float:
        """Silence longer than this means that readings are stale: three intervals, at least 3 s."""
        return min(max(3.0 * self._gap_s, 3.0), 60.0)
