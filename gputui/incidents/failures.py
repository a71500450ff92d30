"""When each GPU failed: what makes a GPU that fails again and again stand out.

A failure is a grave incident on a GPU, with all the grave ones that follow each other within three
minutes (the window in which NVSentinel takes fatal Xids for one burst). Bounded, whatever comes.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass, replace

from gputui.model import Incident, Severity

BURST_S = 180.0

_MOST_GPUS = 20_000
"""As many as a big machine has: a log may be that of all its nodes."""

_MOST_OF_ONE = 50


@dataclass(frozen=True, slots=True)
class Failure:
    """When it began and last showed (Unix time), the kinds of its incidents, how it was told."""

    time_s: float
    last_s: float
    kinds: tuple[str, ...]
    text: str

    def takes(self, time_s: float) -> bool:
        """Whether what happened then belongs to it."""
        return self.time_s - BURST_S <= time_s <= self.last_s + BURST_S

    def with_more(self, time_s: float, kind: str) -> Failure:
        """The same failure, with what happened then."""
        return replace(
            self,
            time_s=min(self.time_s, time_s),
            last_s=max(self.last_s, time_s),
            kinds=self.kinds if kind in self.kinds else (*self.kinds, kind),
        )


class Failures:
    """The failures of one node's GPUs, by the GPU's name as a subject (``gpu:UUID``)."""

    def __init__(self) -> None:
        self._of: dict[str, list[Failure]] = {}

    def note(self, incident: Incident, time_s: float | None = None) -> bool:
        """Take in an incident, or that it happened again at ``time_s``; whether the GPU has failed
        anew by it.

        One that is not grave, or not of a GPU, is passed over.
        """
        if incident.severity is not Severity.CRITICAL or not incident.subject.startswith("gpu:"):
            return False
        at_s = incident.opened_s if time_s is None else time_s
        failures = self._of.setdefault(incident.subject, [])
        for position in range(len(failures) - 1, -1, -1):
            if failures[position].takes(at_s):
                failures[position] = failures[position].with_more(at_s, incident.kind)
                return False
        failure = Failure(at_s, at_s, (incident.kind,), incident.cause_text)
        insort(failures, failure, key=lambda one: one.time_s)
        del failures[:-_MOST_OF_ONE]
        if len(self._of) > _MOST_GPUS:
            del self._of[next(iter(self._of))]
        return True

    def since(self, name: str, time_s: float) -> list[Failure]:
        """The failures of a GPU that began since a time, oldest first."""
        return [one for one in self._of.get(name, ()) if one.time_s >= time_s]

    @property
    def names(self) -> tuple[str, ...]:
        """The GPUs that ever failed."""
        return tuple(self._of)
