"""A line of a log is expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.expectation import Judge, Timing, expectation
from chaos.format.patterns import Pattern
from chaos.judging.judges import Comes
from chaos.judging.matching import LogMatch, Where
from chaos.selection import Inventory, JobId, Nodes


@expectation("log")
@dataclass(frozen=True, slots=True)
class LogExpected:
    """A line is printed into the kernel's or a job's log: ``*`` in it stands for anything."""

    log: Pattern
    node: Nodes | None = None
    job: JobId | None = None

    timing: ClassVar[tuple[str, ...]] = ("within", "from")

    def judge(self, timing: Timing, inventory: Inventory) -> Judge:
        """One who looks for the line."""
        return Comes(LogMatch(self.log, Where.of(inventory, None, self.node, self.job)), timing)
