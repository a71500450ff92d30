"""Windows of maintenance: times in which the site is at work, and nobody is to be called.

What happens in one is told and marked with its name, not hidden.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from fnmatch import fnmatchcase

from gputui.model import Incident

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Window:
    """A time in which incidents are expected.

    Either once, from ``start_s`` to ``end_s`` (Unix time; None for open ends), or every day between
    two times of the local day, in seconds after midnight; ``daily`` may run over midnight. Both
    limit each other where both are given. It concerns ``subjects`` and ``kinds``, all of them when
    empty; in subjects ``*`` stands for anything, and ``gpu3`` for the GPU of that index.
    """

    name: str
    subjects: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()
    start_s: float | None = None
    end_s: float | None = None
    daily: tuple[float, float] | None = None

    def covers(self, incident: Incident, time_s: float) -> bool:
        """Whether an incident falls into it at a time."""
        return self._concerns(incident) and self._is_on(time_s)

    def _concerns(self, incident: Incident) -> bool:
        if self.kinds and incident.kind not in self.kinds:
            return False
        names = (incident.subject, f"node:{incident.host}", f"gpu{incident.gpu}")
        return not self.subjects or any(
            fnmatchcase(name, pattern) for pattern in self.subjects for name in names
        )

    def _is_on(self, time_s: float) -> bool:
        if self.start_s is not None and time_s < self.start_s:
            return False
        if self.end_s is not None and time_s >= self.end_s:
            return False
        if self.daily is None:
            return True
        begin, end = self.daily
        local = time.localtime(time_s)
        at = local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec
        return begin <= at < end if begin <= end else at >= begin or at < end

    def next_s(self, time_s: float) -> float | None:
        """The next moment at which it may begin or end; None for never."""
        edges = [edge for edge in (self.start_s, self.end_s) if edge is not None and edge > time_s]
        if self.daily is not None:
            local = time.localtime(time_s)
            at = local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec
            edges += [time_s - time_s % 1 + ((edge - at - 1) % _DAY_S) + 1 for edge in self.daily]
        return min(edges, default=None)
