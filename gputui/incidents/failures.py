"""When each GPU failed: what makes a GPU that fails again and again stand out.

A failure is a grave incident on a GPU. What follows within an hour is the same failure: a GPU that
nobody has mended yet says more. Bounded, whatever comes.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass

from gputui.model import Incident, Severity

SAME_FAILURE_S = 3600.0

_MOST_GPUS = 20_000
"""As many as a big machine has: a log may be that of all its nodes."""

_MOST_OF_ONE = 50


@dataclass(frozen=True, slots=True)
class Failure:
    """A grave incident on a GPU: when it began (Unix time), of which kind, and how it was told."""

    time_s: float
    kind: str
    text: str


class Failures:
    """The failures of one node's GPUs, by the GPU's name as a subject (``gpu:UUID``)."""

    def __init__(self) -> None:
        self._of: dict[str, list[Failure]] = {}

    def note(self, incident: Incident) -> bool:
        """Take in an incident; whether a GPU has failed anew by it.

        One that is not grave, or not of a GPU, is passed over.
        """
        if incident.severity is not Severity.CRITICAL or not incident.subject.startswith("gpu:"):
            return False
        failure = Failure(incident.opened_s, incident.kind, incident.cause_text)
        failures = self._of.setdefault(incident.subject, [])
        if any(one.time_s == failure.time_s and one.kind == failure.kind for one in failures):
            return False
        is_new = not any(abs(one.time_s - failure.time_s) <= SAME_FAILURE_S for one in failures)
        insort(failures, failure, key=lambda one: one.time_s)
        del failures[:-_MOST_OF_ONE]
        if len(self._of) > _MOST_GPUS:
            del self._of[next(iter(self._of))]
        return is_new

    def since(self, name: str, time_s: float) -> list[Failure]:
        """The failures of a GPU since a time, oldest first; of each the incident that began it."""
        return list(_first_of_each(self._of.get(name, []), time_s))

    def during(self, name: str, from_s: float, to_s: float) -> list[Failure]:
        """The grave incidents on a GPU that began within a time, oldest first."""
        return [one for one in self._of.get(name, ()) if from_s <= one.time_s <= to_s]

    @property
    def names(self) -> tuple[str, ...]:
        """The GPUs that ever failed."""
        return tuple(self._of)


def _first_of_each(failures: list[Failure], since_s: float) -> Iterator[Failure]:
    last_s = float("-inf")
    for failure in failures:
        if failure.time_s >= since_s and failure.time_s - last_s > SAME_FAILURE_S:
            yield failure
        last_s = failure.time_s
