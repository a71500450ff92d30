"""A run drawn over its time, as SVG: faults, temperatures, clocks, incidents, actions, deadlines.

From top to bottom: what broke, how the GPUs in question fared, what the monitor said, what the
runbook did, and of each expectation the time it had and the moment at which it was met. Colours
are classes of the page's style sheet; whatever is drawn has a title, for who points at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from chaos.journal import Record
from chaos.reports import Reported, seconds
from chaos.reports.words import at, incident_of, said
from chaos.verdict import Judged
from fakes.clock import SECOND_US

_LABELS = 215
_WIDTH = 745
_RIGHT = 60
_LANE = 20
_BAR = 13
_PANEL = 84
_GAP = 12
_MOST_LANES = 14
_MOST_MARKS = 400
_LABEL_LETTERS = 31
_COLOURS = 8
_STEPS_S = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400, 604800,
)  # fmt: skip
_MOST_TICKS = 9
_SUBJECTS = ("gpu", "node", "job")
_STEADY_US = 2 * SECOND_US
"""A reading that is older than this had not changed until shortly before the next one."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Something that lasts, or (without an end) a moment. ``sort`` is its class."""

    lane: str
    sort: str
    from_us: int
    to_us: int | None
    title: str


def drawing(reported: Reported) -> str:
    """The drawing of a run."""
    return _Sheet(reported).drawn()


class _Sheet:
    """Draws from the top downwards; ``_y`` is how far it has come."""

    def __init__(self, reported: Reported) -> None:
        self._reported = reported
        self._end_us = max(reported.result.end_us, SECOND_US)
        self._y = 18.0
        self._parts: list[str] = []

    def drawn(self) -> str:
        records = self._reported.records
        self._lanes("what broke", list(_faults(records, self._end_us)))
        self._curves("temperature", "temperature_c", "°C", records)
        self._curves("SM clock", "sm_clock_mhz", "MHz", records)
        self._lanes("what gputui said", list(_incidents(records, self._end_us)))
        self._lanes("what was done", list(_deeds(records, self._end_us)))
        self._expectations(self._reported.result.judged)
        height = self._y + 6
        axis = "".join(self._axis())
        width = _LABELS + _WIDTH + _RIGHT
        body = "\n".join(self._parts)
        return (
            f'<svg viewBox="0 0 {width} {height:.0f}" role="img" aria-label="the run over time">\n'
            f"{axis}\n{body}\n</svg>"
        )

    # --- where things are -------------------------------------------------------------------------

    def _x(self, us: int) -> float:
        return _LABELS + _WIDTH * min(max(us, 0), self._end_us) / self._end_us

    def _axis(self) -> Iterator[str]:
        """Lines from top to bottom, each with its time."""
        step_us = _step_us(self._end_us)
        for us in range(0, self._end_us + 1, step_us):
            x = self._x(us)
            yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="16" y2="{self._y:.0f}"/>'
            yield f'<text class="tick" x="{x:.1f}" y="11" text-anchor="middle">{at(us)}</text>'

    def _head(self, text: str) -> None:
        self._y += _GAP
        self._parts.append(f'<text class="head" x="0" y="{self._y + 10:.0f}">{escape(text)}</text>')
        self._y += 16

    # --- bars and marks ---------------------------------------------------------------------------

    def _lanes(self, head: str, bars: list[Bar]) -> None:
        lanes = list(dict.fromkeys(bar.lane for bar in bars))
        if not lanes:
            return
        self._head(head)
        for lane in lanes[:_MOST_LANES]:
            self._label(lane)
            self._parts += (self._drawn(bar) for bar in bars if bar.lane == lane)
            self._y += _LANE
        if len(lanes) > _MOST_LANES:
            self._label(f"and {len(lanes) - _MOST_LANES} more")
            self._y += _LANE

    def _label(self, text: str) -> None:
        shown = text if len(text) <= _LABEL_LETTERS else f"{text[: _LABEL_LETTERS - 1]}…"
        title = f"<title>{escape(text)}</title>"
        self._parts.append(f'<text x="0" y="{self._y + 11:.0f}">{escape(shown)}{title}</text>')

    def _drawn(self, bar: Bar) -> str:
        x, title = self._x(bar.from_us), f"<title>{escape(bar.title)}</title>"
        if bar.to_us is None:
            y = self._y + _LANE / 2 - 3
            return f'<circle class="{bar.sort}" cx="{x:.1f}" cy="{y:.1f}" r="4">{title}</circle>'
        width = max(self._x(bar.to_us) - x, 2.0)
        return (
            f'<rect class="{bar.sort}" x="{x:.1f}" y="{self._y + 1:.1f}" width="{width:.1f}" '
            f'height="{_BAR}" rx="3">{title}</rect>'
        )

    # --- curves -----------------------------------------------------------------------------------

    def _curves(self, head: str, name: str, unit: str, records: Sequence[Record]) -> None:
        """A panel with a curve for each GPU."""
        curves = _curves_of(records, name)
        values = [value for points in curves.values() for _, value in points if value is not None]
        if not values:
            return
        low, high = min(values), max(values)
        room = max((high - low) * 0.08, 1.0)
        low, high = low - room, high + room
        self._head(f"{head}, {unit}")
        top = self._y
        self._parts.append(
            f'<rect class="panel" x="{_LABELS}" y="{top:.0f}" width="{_WIDTH}" height="{_PANEL}"/>'
        )

        def y_of(value: float) -> float:
            return top + _PANEL * (high - value) / (high - low)

        for value in dict.fromkeys((max(values), min(values))):
            self._parts.append(
                f'<text class="tick" x="{_LABELS - 6}" y="{y_of(value) + 4:.1f}" '
                f'text-anchor="end">{value:g}</text>'
            )
        ends: list[float] = []
        for number, (gpu, points) in enumerate(curves.items()):
            colour = f"c{number % _COLOURS}"
            for piece in _pieces(points):
                path = " ".join(f"{self._x(us):.1f},{y_of(value):.1f}" for us, value in piece)
                last = f"{_LABELS + _WIDTH:.1f},{y_of(piece[-1][1]):.1f}"
                until_end = f" {last}" if piece[-1] == points[-1] else ""
                self._parts.append(
                    f'<polyline class="curve {colour}" points="{path}{until_end}">'
                    f"<title>{escape(gpu)}</title></polyline>"
                )
            last_value = next((one for _, one in reversed(points) if one is not None), None)
            if last_value is not None:
                y = _free(y_of(last_value) + 4, ends)
                ends.append(y)
                self._parts.append(
                    f'<text class="name {colour}" x="{_LABELS + _WIDTH + 5}" y="{y:.1f}">'
                    f"{escape(gpu)}</text>"
                )
        self._y += _PANEL

    # --- expectations -----------------------------------------------------------------------------

    def _expectations(self, judged: Sequence[Judged]) -> None:
        """Of each that has a deadline the time it had, and when it came."""
        timed = [one for one in judged if one.timing.deadline_us is not None]
        if not timed:
            return
        self._head("what was expected: the time it had, and when it came")
        for one in timed:
            self._label(f"{one.expectation.position}  {one.expectation.text[1:-1]}")
            self._parts += self._expectation(one)
            self._y += _LANE

    def _expectation(self, one: Judged) -> Iterator[str]:
        timing, outcome = one.timing, one.outcome
        deadline_us = timing.deadline_us or 0
        title = escape(f"{one.expectation.text}: {outcome.why}, {seconds(outcome.measured_us)}")
        x, end = self._x(timing.from_us), self._x(deadline_us)
        middle = self._y + _LANE / 2 - 3
        yield (
            f'<line class="time" x1="{x:.1f}" x2="{end:.1f}" y1="{middle:.1f}" y2="{middle:.1f}"/>'
        )
        yield (
            f'<line class="deadline" x1="{end:.1f}" x2="{end:.1f}" y1="{self._y:.1f}" '
            f'y2="{self._y + 14:.1f}"><title>{title}</title></line>'
        )
        if outcome.measured_us is None and not outcome.ok:
            yield (
                f'<path class="never" d="M{end - 4:.1f} {middle - 4:.1f}l8 8m0 -8l-8 8">'
                f"<title>{title}</title></path>"
            )
        elif outcome.measured_us is not None:
            came = self._x(timing.from_us + outcome.measured_us)
            word = "met" if outcome.ok else "missed"
            yield (
                f'<path class="{word}" d="M{came:.1f} {middle - 6:.1f}l6 6l-6 6l-6 -6z">'
                f"<title>{title}</title></path>"
            )


def _step_us(end_us: int) -> int:
    """How far apart the axis has its lines."""
    for step_s in _STEPS_S:
        if end_us / (step_s * SECOND_US) <= _MOST_TICKS:
            return step_s * SECOND_US
    return max(end_us // _MOST_TICKS, 1)


def _free(y: float, taken: Iterable[float]) -> float:
    """A place for a name, near ``y``, where no other one stands."""
    for other in sorted(taken):
        if abs(other - y) < 12:
            y = other + 12
    return y


def _curves_of(records: Sequence[Record], name: str) -> dict[str, list[tuple[int, float | None]]]:
    """Each GPU's readings; None from when it could not be read any more."""
    curves: dict[str, list[tuple[int, float | None]]] = {}
    for record in records:
        if record.event == "reading":
            facts = record.facts
            points = curves.setdefault(f"{facts['node']}/{facts['gpu']}", [])
            points.append((record.at_us, facts.get(name)))
    return curves


def _pieces(points: Sequence[tuple[int, float | None]]) -> Iterator[list[tuple[int, float]]]:
    """A curve in pieces without gaps."""
    piece: list[tuple[int, float]] = []
    for us, value in points:
        if piece and us - piece[-1][0] > _STEADY_US:
            piece.append((us - SECOND_US, piece[-1][1]))
        if value is not None:
            piece.append((us, value))
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


# --- what the journal's lines are ----------------------------------------------------------------


def _faults(records: Sequence[Record], end_us: int) -> Iterator[Bar]:
    healed = {record.facts["id"]: record.at_us for record in records if record.event == "heal"}
    for record in records:
        if record.event == "fault":
            facts = record.facts
            until_us = max(healed.get(facts["id"], end_us), record.at_us)
            yield Bar(_fault_lane(facts), "fault", record.at_us, until_us, said(record))


def _fault_lane(facts: Mapping[str, Any]) -> str:
    """A fault by its verb, whom it concerns, and the first of what else is said."""
    arguments = dict(facts["arguments"])
    subject = next((arguments.pop(name) for name in _SUBJECTS if name in arguments), "")
    other = next((f"{name} {value}" for name, value in arguments.items()), "")
    return " ".join(str(part) for part in (facts["fault"], subject, other) if part)


def _incidents(records: Sequence[Record], end_us: int) -> Iterator[Bar]:
    opened: dict[str, Record] = {}
    closed: list[tuple[Record, int]] = []
    for record in records:
        if record.event == "end":
            break
        if record.event != "incident":
            continue
        incident = record.facts["incident"]
        first = opened.setdefault(incident["id"], record)
        if incident["cleared_s"] is not None:
            del opened[incident["id"]]
            closed.append((first, record.at_us))
    closed += ((first, end_us) for first in opened.values())
    for first, until_us in sorted(closed, key=lambda one: one[0].number):
        severity = str(first.facts["incident"]["severity"])
        lane = incident_of(first.facts)
        yield Bar(lane, f"incident {severity}", first.at_us, until_us, said(first))


def _deeds(records: Sequence[Record], end_us: int) -> Iterator[Bar]:
    """The runbook from its start to its end, its actions by their effect, and its calls."""
    started: Record | None = None
    marks = 0
    for record in records:
        facts = record.facts
        if record.event == "runbook" and "exit" not in facts:
            started = record
        elif record.event == "runbook" and started is not None:
            yield Bar("the runbook", "runbook", started.at_us, record.at_us, said(started))
            started = None
    if started is not None:
        yield Bar("the runbook", "runbook", started.at_us, end_us, said(started))
    for record in records:
        if record.event == "action" and marks < _MOST_MARKS:
            marks += 1
            sort = "action" if record.facts.get("ok", True) else "action refused"
            yield Bar(str(record.facts["action"]), sort, record.at_us, None, said(record))
    for record in records:
        if record.event in ("call", "hint") and marks < _MOST_MARKS:
            marks += 1
            lane = "calls" if record.event == "call" else "hints"
            yield Bar(lane, record.event, record.at_us, None, said(record))
