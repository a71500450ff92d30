"""Open incidents: how bad, what, where, since when, why, and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gputui.age import age
from gputui.model import Incident
from gputui.tui.quiet import is_quiet, mark
from gputui.tui.roles import SEVERITY_ROLES, Role
from gputui.tui.scene import Scene
from gputui.tui.text import Line, Run, clean, left, make_line, right, shorten, width_of, wrap

_ROOMY = 60
"""From this width on, the parts of an incident stand in columns."""

_INDENT = "   "
_ADVICE_LINES = 2

_LONGEST_KIND, _LONGEST_SUBJECT, _LEAST_SUBJECT = 22, 16, 6

_LEAST_CAUSE = 10
"""Cells below which a cause says nothing any more."""


@dataclass(frozen=True, slots=True)
class IncidentRow:
    """One incident as it is drawn.

    ``head`` are its first parts, to be followed by the cause; ``single`` says that cause and advice
    fit on the same line, the advice at ``advice_at`` cells from the left.
    """

    incident: Incident
    head: tuple[Run, ...]
    cause: str
    advice: str
    single: bool
    advice_at: int

    def wanted(self, width: int) -> int:
        """Lines it takes to say everything."""
        if self.single:
            return 1
        return 1 + min(len(wrap(self.advice, width - 6)), _ADVICE_LINES)


@dataclass(frozen=True, slots=True)
class _HeadWidths:
    """Cells that the first parts take, the same for all incidents on the screen."""

    kind: int
    subject: int
    count: int


def subject(incident: Incident) -> str:
    """Whom it concerns: ``GPU 5``, ``node``, ``job 4711``, ``nic mlx5_0``."""
    if incident.gpu is not None:
        return f"GPU {incident.gpu}"
    kind, _, name = incident.subject.partition(":")
    if kind in ("node", "fleet"):
        return kind
    return clean(f"{kind} {name}".strip())


def rows(scene: Scene, width: int) -> list[IncidentRow]:
    """The incidents that stand on their own, in the monitor's order: worst first, then newest."""
    incidents = scene.open_incidents()
    if not incidents:
        return []
    kinds = max(width_of(incident.kind) for incident in incidents)
    subjects = max(width_of(subject(incident)) for incident in incidents)
    counts = max(width_of(_count(scene, incident)) for incident in incidents)
    widths = _HeadWidths(min(kinds, _LONGEST_KIND), min(subjects, _LONGEST_SUBJECT), counts)
    built = [
        (incident, _head(scene, incident, width, widths), _cause(scene, incident))
        for incident in incidents
    ]
    advices = [advice(incident) for incident in incidents]
    starts = [
        sum(width_of(run.text) for run in first) + width_of(cause) + 2 for _, first, cause in built
    ]
    advice_at = max(starts)
    single = width >= _ROOMY and all(advice_at + 3 + width_of(text) <= width for text in advices)
    return [
        IncidentRow(incident, first, cause, text, single, advice_at)
        for (incident, first, cause), text in zip(built, advices, strict=True)
    ]


def _cause(scene: Scene, incident: Incident) -> str:
    """The cause in words, whether it is still so, and what hangs under the incident."""
    text = clean(incident.cause_text) or incident.cause
    if incident.eased_s is not None and incident.cleared_s is None:
        text += f" (no longer, for {age(scene.now_s - incident.eased_s)})"
    under = len(incident.children)
    return f"{text} (+{under} under it)" if under else text


def _count(scene: Scene, incident: Incident, *, short: bool = False) -> str:
    """How often it was seen, ``x12``, nothing for once; and why it calls nobody, if so."""
    count = f"x{incident.count}" if incident.count > 1 else ""
    return f"{count} {mark(incident, scene.now_s, short=short)}".strip()


def _head(scene: Scene, incident: Incident, width: int, widths: _HeadWidths) -> tuple[Run, ...]:
    """Glyph, severity, kind, subject, age and count."""
    role = _role(incident)
    glyph = scene.glyphs.severity(incident.severity)
    since = age(scene.now_s - incident.opened_s)
    count = _count(scene, incident, short=width < _ROOMY)
    where, ellipsis = subject(incident), scene.glyphs.ellipsis
    if width >= _ROOMY:
        return (
            Run(f"{glyph} {incident.severity.word:8} ", role),
            Run(left(incident.kind, widths.kind, ellipsis) + " ", Role.STRONG),
            Run(left(where, widths.subject, ellipsis) + " "),
            Run(right(since, 4) + "  "),
            Run(left(count, widths.count) + " " if widths.count else "", role),
        )
    kind = shorten(incident.kind, _LONGEST_KIND, ellipsis)
    word = incident.severity.word
    tail = f" {since} {count}".rstrip()
    room = width - 5 - width_of(kind) - width_of(tail)
    if width_of(word) + width_of(where) > room:
        word = word[:4]
    where = shorten(where, max(room - width_of(word), _LEAST_SUBJECT), ellipsis)
    return (
        Run(f"{glyph} {word} ", role),
        Run(kind, Role.STRONG),
        Run(f" {where}{tail} "),
    )


def head(scene: Scene, incident: Incident) -> list[Run]:
    """What is wrong, in one line, for pages of whom it concerns."""
    glyph, since = scene.glyphs.severity(incident.severity), age(scene.now_s - incident.opened_s)
    return [
        Run(f"{glyph} {incident.severity.word} ", _role(incident)),
        Run(incident.kind, Role.STRONG),
        Run(f" {since} {_count(scene, incident)} {_cause(scene, incident)}"),
    ]


def advice(incident: Incident) -> str:
    """What to do."""
    return clean(incident.action_text) or incident.action.value


def _role(incident: Incident) -> Role:
    """How its severity is written: one that calls nobody does not stand out."""
    return Role.DIM if is_quiet(incident) else SEVERITY_ROLES[incident.severity]


def heading(scene: Scene, width: int, range_text: str = "") -> Line:
    """The panel's title. Without incidents it is all there is to say."""
    runs = [Run(" INCIDENTS", Role.TITLE)]
    if scene.snapshot is None:
        runs.append(Run("  not known yet", Role.TITLE))
    elif not scene.open_incidents():
        runs.append(Run(f"  none open{_last(scene)}", Role.TITLE))
    if range_text:
        used = sum(width_of(run.text) for run in runs)
        runs.append(Run(right(range_text, max(width - 1 - used, 0)), Role.TITLE))
    return make_line([*runs, Run(" " * width, Role.TITLE)], width)


def _last(scene: Scene) -> str:
    """What was the matter until a while ago, if anything was."""
    recent = scene.snapshot.recent if scene.snapshot else ()
    if not recent:
        return ""
    newest = recent[0]
    ago = age(scene.now_s - (newest.cleared_s or scene.now_s))
    more = f", and {len(recent) - 1} more in the last hour" if len(recent) > 1 else ""
    return f"; {newest.kind} {subject(newest)} over for {ago}{more}"


def draw(
    scene: Scene, row: IncidentRow, width: int, height: int, *, selected: bool
) -> tuple[Line, ...]:
    """One incident in ``height`` lines: all of it, or the cause gives way to what to do."""
    ellipsis = scene.glyphs.ellipsis
    cursor = Run(scene.glyphs.cursor if selected else " ", Role.CURSOR)
    used = 1 + sum(width_of(run.text) for run in row.head)
    if row.single:
        cause = left(row.cause, max(row.advice_at - used + 1, 0), ellipsis)
        runs = [cursor, *row.head, Run(cause), Run(f"> {row.advice}", Role.ADVICE)]
        return (make_line(runs, width, selected=selected),)
    if height == 1:
        to_do = shorten(f"> {row.advice}", max(width - 1 - used, 0), ellipsis)
        runs = [cursor, *row.head, Run(to_do, Role.ADVICE)]
        return (make_line(runs, width, selected=selected),)
    room = width - 1 - used
    cause = shorten(row.cause, room, ellipsis) if room >= _LEAST_CAUSE else ""
    first = make_line([cursor, *row.head, Run(cause)], width, selected=selected)
    return (first, *_advice_lines(row, width, height - 1, cursor, ellipsis, selected=selected))


def _advice_lines(
    row: IncidentRow, width: int, height: int, cursor: Run, ellipsis: str, *, selected: bool
) -> list[Line]:
    """What to do, on lines of its own."""
    room = width - 6
    parts = wrap(row.advice, room)
    if len(parts) > height:
        rest = " ".join(parts[height - 1 :])
        parts = [*parts[: height - 1], shorten(rest, room, ellipsis)]
    lines = []
    for position, part in enumerate(parts):
        lead = f"{_INDENT[1:]}> " if position == 0 else f"{_INDENT[1:]}  "
        runs = [cursor, Run(lead + part, Role.ADVICE)]
        lines.append(make_line(runs, width, selected=selected))
    return lines


def allot(wanted: Sequence[int], height: int) -> list[int]:
    """Lines for each incident when there are ``height``: one each, the rest from the top."""
    given = [1] * len(wanted)
    spare = height - len(wanted)
    for position, want in enumerate(wanted):
        more = min(max(spare, 0), want - 1)
        given[position] += more
        spare -= more
    return given
