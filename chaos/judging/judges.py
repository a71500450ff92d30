"""Those who read a journal for something that is to come."""

from __future__ import annotations

from chaos.expectation import Outcome, Timing
from chaos.journal import Record
from chaos.judging.matching import IncidentMatch, Match
from fakes.clock import SECOND_US

NOT_BEGUN = "the run ended before it was to begin"


class Comes:
    """Judges that something comes, after the beginning and before the deadline."""

    waits = True

    def __init__(self, match: Match, timing: Timing) -> None:
        self._match = match
        self._timing = timing
        self._came: Record | None = None
        self._early: Record | None = None

    def see(self, record: Record) -> None:
        """Note the first that is meant."""
        if self._came is not None or not self._match.matches(record):
            return
        if record.at_us < self._timing.from_us:
            self._early = record
        else:
            self._came = record

    def outcome(self, now_us: int) -> Outcome | None:
        """Decided when it came, or when it is too late."""
        deadline_us = self._timing.deadline_us
        if self._came is None:
            return (
                self._missing(now_us) if deadline_us is not None and now_us > deadline_us else None
            )
        measured_us = self._came.at_us - self._timing.from_us
        late = deadline_us is not None and self._came.at_us > deadline_us
        why = "came too late" if late else "came"
        return Outcome(not late, measured_us, why, (self._came.number,))

    def at_end(self, end_us: int) -> Outcome:
        """What never came failed."""
        return self.outcome(end_us) or self._missing(end_us)

    def _missing(self, now_us: int) -> Outcome:
        if now_us < self._timing.from_us:
            return Outcome(False, None, NOT_BEGUN)
        waited_s = (now_us - self._timing.from_us) / SECOND_US
        if self._early is not None:
            why = f"came only before it was to, in line {self._early.number}"
            return Outcome(False, None, why, (self._early.number,))
        return Outcome(False, None, f"did not come in {waited_s:g} s")


class Opens:
    """Judges that an incident opens, and how many do."""

    waits = True

    def __init__(self, match: IncidentMatch, timing: Timing, times: int | None) -> None:
        self._match = match
        self._timing = timing
        self._times = times
        self._open: set[str] = set()
        self._openings: list[Record] = []
        self._others: list[Record] = []
        self._early: Record | None = None

    def see(self, record: Record) -> None:
        """Note an opening; that an incident changes, or clears, is none."""
        if record.event != "incident":
            return
        incident = record.facts["incident"]
        if incident["cleared_s"] is not None:
            self._open.discard(incident["id"])
            return
        is_new = incident["id"] not in self._open
        if self._match.means(incident):
            # An incident may learn its cause later: it counts when it is as expected.
            self._open.add(incident["id"])
            if is_new and record.at_us >= self._timing.from_us:
                self._openings.append(record)
            elif is_new:
                self._early = record
        elif is_new and incident["kind"] == self._match.kind:
            self._others.append(record)

    def outcome(self, now_us: int) -> Outcome | None:
        """Decided at its opening, or when it is too late; how many come is known at the end."""
        deadline_us, count = self._timing.deadline_us, len(self._openings)
        if not count:
            too_late = deadline_us is not None and now_us > deadline_us
            return self._missing(now_us) if too_late else None
        first = self._openings[0]
        measured_us = first.at_us - self._timing.from_us
        lines = tuple(record.number for record in self._openings[:10])
        if deadline_us is not None and first.at_us > deadline_us:
            return Outcome(False, measured_us, "opened too late", lines)
        if self._times is None:
            return Outcome(True, measured_us, "opened", lines[:1])
        if count > self._times:
            why = f"{count} opened, {self._times} expected"
            return Outcome(False, measured_us, why, lines)
        return None

    def at_end(self, end_us: int) -> Outcome:
        """As many opened as were expected, or not."""
        decided = self.outcome(end_us)
        if decided is not None:
            return decided
        if not self._openings:
            return self._missing(end_us)
        measured_us = self._openings[0].at_us - self._timing.from_us
        lines = tuple(record.number for record in self._openings[:10])
        count = len(self._openings)
        ok = count == self._times
        why = f"{count} opened" if ok else f"{count} opened, {self._times} expected"
        return Outcome(ok, measured_us, why, lines)

    def _missing(self, now_us: int) -> Outcome:
        if now_us < self._timing.from_us:
            return Outcome(False, None, NOT_BEGUN)
        if self._early is not None:
            why = f"opened only before it was to, in line {self._early.number}"
            return Outcome(False, None, why, (self._early.number,))
        waited_s = (now_us - self._timing.from_us) / SECOND_US
        if not self._others:
            return Outcome(False, None, f"did not open in {waited_s:g} s")
        other = self._others[-1]
        incident = other.facts["incident"]
        whom = incident["subject"] if incident["gpu"] is None else f"GPU {incident['gpu']}"
        why = (
            f"one of this kind opened on {incident['host']}, {whom}, with cause "
            f"{incident['cause']}, but not as expected"
        )
        return Outcome(False, None, why, (other.number,))
