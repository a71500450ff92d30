"""The score of a game day: from a verdict and a journal, by a rule that is printed beside it.

Who has the scenario and the journal comes to the same figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from chaos.journal import Record
from chaos.verdict import Judged, Result

HINT_POINTS = 5

RULE = (
    "What is to come counts alike, and is 100 points together: met within the first half of its "
    "time it counts in full, at its deadline half, in between in proportion, later nothing. What "
    "is not to happen, and does, costs as much as one of those brings. A hint costs "
    f"{HINT_POINTS} points. There is nothing below 0."
)


@dataclass(frozen=True, slots=True)
class Row:
    """What an expectation brought, or something cost."""

    text: str
    points: float


@dataclass(frozen=True, slots=True)
class Score:
    """The points, 0 to 100, and where they come from."""

    points: int
    rows: tuple[Row, ...]

    def lines(self) -> Iterator[str]:
        """The score in words, with its rule."""
        yield f"score {self.points} of 100"
        for row in self.rows:
            yield f"  {row.points:+6.1f}  {row.text}"
        yield f"  rule: {RULE}"


def score(result: Result, records: Iterable[Record]) -> Score:
    """The score of a run that has come to its end."""
    each = 100 / max(1, sum(one.waits for one in result.judged))
    rows = [Row(one.expectation.text, each * _share(one)) for one in result.judged]
    rows += (
        Row(f"hint: {record.facts['text']}", -HINT_POINTS)
        for record in records
        if record.event == "hint"
    )
    return Score(max(0, round(sum(row.points for row in rows))), tuple(rows))


def _share(one: Judged) -> float:
    """How much of its points an expectation brought: 0, 0.5 to 1, or -1."""
    outcome, timing = one.outcome, one.timing
    if not one.waits:
        return 0.0 if outcome.ok else -1.0
    if not outcome.ok:
        return 0.0
    if outcome.measured_us is None or timing.deadline_us is None:
        return 1.0
    within_us = timing.deadline_us - timing.from_us
    if within_us <= 0:
        return 1.0
    return min(1.0, 1.5 - outcome.measured_us / within_us)
