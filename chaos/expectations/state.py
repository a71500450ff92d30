"""A state of the world is expected: that things are as they should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.condition import State
from chaos.expectation import Judge, Outcome, Timing, expectation
from chaos.journal import Record
from chaos.selection import Inventory
from fakes.clock import SECOND_US


@expectation("state")
@dataclass(frozen=True, slots=True)
class StateExpected:
    """Something comes to be as it should, and stays so for ``hold``."""

    state: State

    timing: ClassVar[tuple[str, ...]] = ("within", "from", "hold")

    @property
    def states(self) -> tuple[State, ...]:
        """What is to be watched."""
        return (self.state,)

    def judge(self, timing: Timing, inventory: Inventory) -> Judge:
        """One who reads when it began, and when it ended."""
        return _Holds(self.state.text, timing)


class _Holds:
    """Judges that a state begins in time, and holds for long enough.

    What decides is the last time that it begins by the deadline: a state that was met and broken
    again before then must come back. One that came back after it was broken is believed as soon as
    it has held for long enough; one that held from the first on is watched until the deadline.

    The journal has a line for each change of it: what is in between is as the last one says.
    """

    waits = True

    def __init__(self, text: str, timing: Timing) -> None:
        self._text = text
        self._timing = timing
        self._since_us: int | None = None
        self._line = 0
        self._why = "was never looked at"
        self._done: tuple[int, int] | None = None

    def see(self, record: Record) -> None:
        """Note a change of the state."""
        self._decide(record.at_us)
        if record.event != "state" or record.facts["state"] != self._text or self._done:
            return
        self._line = record.number
        if record.facts["holds"]:
            if self._since_us is None:
                self._since_us = record.at_us
        else:
            self._since_us = None
            self._why = str(record.facts["why"])

    def outcome(self, now_us: int) -> Outcome | None:
        """Decided when it has held for long enough, or cannot any more."""
        self._decide(now_us)
        if self._done is not None:
            return self._met(*self._done)
        deadline_us = self._timing.deadline_us
        if deadline_us is None or now_us <= deadline_us:
            return None
        still = self._began_us
        return None if still is not None and still <= deadline_us else self._failed()

    def at_end(self, end_us: int) -> Outcome:
        """What had not held for long enough failed."""
        decided = self.outcome(end_us)
        if decided is not None:
            return decided
        if end_us < self._timing.from_us:
            return Outcome(False, None, "the run ended before it was to begin")
        began_us = self._began_us
        if began_us is None or end_us < began_us:
            return self._failed()
        if self._has_held(began_us, end_us):
            return self._met(began_us, self._line)
        held_s = (end_us - began_us) / SECOND_US
        wanted_s = self._timing.hold_us / SECOND_US
        why = f"held for {held_s:g} s of {wanted_s:g} s when the run ended"
        return Outcome(False, began_us - self._timing.from_us, why, self._lines)

    @property
    def _began_us(self) -> int | None:
        """Since when it holds, as far as it counts."""
        return None if self._since_us is None else max(self._since_us, self._timing.from_us)

    def _decide(self, now_us: int) -> None:
        began_us, deadline_us = self._began_us, self._timing.deadline_us
        if self._done is not None or began_us is None or self._since_us is None:
            return
        came_back = self._since_us > self._timing.from_us
        is_last = deadline_us is not None and now_us > deadline_us
        if (came_back or is_last) and self._has_held(began_us, now_us):
            self._done = (began_us, self._line)

    def _has_held(self, began_us: int, now_us: int) -> bool:
        deadline_us = self._timing.deadline_us
        in_time = deadline_us is None or began_us <= deadline_us
        return in_time and now_us - began_us >= self._timing.hold_us

    def _met(self, began_us: int, line: int) -> Outcome:
        return Outcome(True, began_us - self._timing.from_us, "holds", (line,))

    def _failed(self) -> Outcome:
        if self._since_us is not None:
            late_us = self._since_us - self._timing.from_us
            return Outcome(False, late_us, "came too late", self._lines)
        return Outcome(False, None, self._why, self._lines)

    @property
    def _lines(self) -> tuple[int, ...]:
        return (self._line,) if self._line else ()
