"""An incident is expected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from chaos.expectation import Judge, ReadingContext, Timing, expectation
from chaos.format.values import Count
from chaos.judging.judges import Opens
from chaos.judging.matching import IncidentKind, IncidentMatch, Where, wrong_cause
from chaos.selection import Gpus, Inventory, JobId, Nodes


@expectation("incident")
@dataclass(frozen=True, slots=True)
class IncidentExpected:
    """An incident opens; with ``times`` so many do in the whole run, and no more."""

    incident: IncidentKind
    gpu: Gpus | None = None
    node: Nodes | None = None
    job: JobId | None = None
    cause: str | None = None
    times: Count | None = None

    timing: ClassVar[tuple[str, ...]] = ("within", "from")

    def wrong(self, context: ReadingContext) -> Iterator[tuple[str, str]]:
        """A cause that this kind of incident never has."""
        yield from wrong_cause(self.incident, self.cause)

    def match(self, inventory: Inventory) -> IncidentMatch:
        """Which incidents are meant."""
        where = Where.of(inventory, self.gpu, self.node, self.job)
        return IncidentMatch(self.incident.text, where, self.cause)

    def judge(self, timing: Timing, inventory: Inventory) -> Judge:
        """One who looks for its opening."""
        times = None if self.times is None else self.times.number
        return Opens(self.match(inventory), timing, times)
