"""That the runbook under test is started at all is expected without being said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.expectation import Judge, Outcome, Timing
from chaos.journal import Record
from chaos.selection import Inventory

NEVER_STARTED = "the runbook was never started: no incident that it is for opened"


@dataclass(frozen=True, slots=True)
class StartExpected:
    """The runbook is started: an incident that it is for opens."""

    timing: ClassVar[tuple[str, ...]] = ()

    def judge(self, timing: Timing, inventory: Inventory) -> Judge:
        """One who looks for its start."""
        return _Starts(timing)


class _Starts:
    """Judges that the runbook was started once, or more often."""

    waits = True

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._start: Record | None = None

    def see(self, record: Record) -> None:
        """Note the first start."""
        if record.event == "runbook" and self._start is None:
            self._start = record

    def outcome(self, now_us: int) -> Outcome | None:
        """Decided by its start."""
        if self._start is None:
            return None
        measured_us = self._start.at_us - self._timing.from_us
        return Outcome(True, measured_us, "started", (self._start.number,))

    def at_end(self, end_us: int) -> Outcome:
        """It was started, or no incident was of the kinds that it is for."""
        return self.outcome(end_us) or Outcome(False, None, NEVER_STARTED)
