"""An incident: what to do, why, since when, and the evidence as it was."""

from __future__ import annotations

from collections.abc import Sequence

from gputui.age import age
from gputui.incidents.advice import OF_THE_BOARD, board
from gputui.incidents.evidence import split_stamp
from gputui.model import Incident
from gputui.tui import format as fmt
from gputui.tui.pages.opinions import opinions
from gputui.tui.pages.writer import Page, PageSource, Writer
from gputui.tui.panels.incidents import subject
from gputui.tui.quiet import sentences
from gputui.tui.roles import SEVERITY_ROLES, Role
from gputui.tui.scene import Scene
from gputui.tui.text import Run, make_line
from gputui.tui.view import Key


def incident_page(key: Key) -> PageSource:
    """The page of the incident with this id. While it is read, one that is over stays."""
    last: list[Incident] = []

    def source(scene: Scene, width: int) -> Page:
        known = scene.snapshot.incidents if scene.snapshot else ()
        found = next((incident for incident in known if incident.id == key), None)
        if found is not None:
            last[:] = [found]
        if not last:
            return (make_line([Run(" no longer known")], width),)
        return _page(scene, last[0], width, is_open=found is not None)

    return source


def _page(scene: Scene, incident: Incident, width: int, *, is_open: bool) -> Page:
    writer = Writer(width)
    role = SEVERITY_ROLES[incident.severity]
    glyph = scene.glyphs.severity(incident.severity)
    writer.line(
        Run(f"{glyph} {incident.severity.word} ", role),
        Run(incident.kind, Role.STRONG),
        Run(f"  {subject(incident)}"),
    )
    writer.blank()
    writer.labelled("what to do", incident.action_text or incident.action.value, Role.ADVICE)
    which = _board(scene, incident)
    if which:
        writer.labelled("board", which)
    writer.labelled("cause", f"{incident.cause_text} ({incident.cause})")
    opened = f"{fmt.clock(incident.opened_s)}, {age(scene.now_s - incident.opened_s)} ago"
    writer.labelled("since", opened if is_open else f"{opened}; over")
    writer.labelled("seen", fmt.plural(incident.count, "time"))
    writer.labelled("concerns", f"{incident.subject} on {incident.host}")
    _calls(writer, scene, incident, is_open=is_open)
    if incident.runbook:
        writer.labelled("runbook", incident.runbook)
    writer.heading("EVIDENCE")
    _timeline(writer, incident.evidence or ("none was kept",))
    under = _under(scene, incident)
    _children(writer, scene, under)
    opinions(writer, (incident, *under))
    return writer.page


def _calls(writer: Writer, scene: Scene, incident: Incident, *, is_open: bool) -> None:
    """Whether somebody is to be called, and why not."""
    until_s = incident.snoozed_until_s
    clock = "" if until_s is None else fmt.clock(until_s)
    told = sentences(incident, scene.now_s, clock)
    for label, text in told:
        writer.labelled(label, text)
    if is_open and not incident.acknowledged:
        calls = "yes" if incident.is_page else "nobody"
        keys = "z ends the snooze" if until_s is not None else "z puts it off for an hour"
        writer.labelled("calls", f"{calls}: a acknowledges it, {keys}")


def _board(scene: Scene, incident: Incident) -> str:
    """Which board somebody is to look for, where that is what is to be done."""
    if scene.snapshot is None or incident.gpu is None or incident.action not in OF_THE_BOARD:
        return ""
    gpus = scene.snapshot.sample.gpus
    return board(next((gpu for gpu in gpus if gpu.index == incident.gpu), None))


def _timeline(writer: Writer, evidence: Sequence[str]) -> None:
    """What was read or said, beside the time when it was; a day, and a time, stand there once."""
    last_day = last_time = ""
    for piece in evidence:
        stamp, text = split_stamp(piece)
        day, _, at = stamp.rpartition(" ")
        if day and day != last_day:
            writer.line(Run(f"  {day}", Role.DIM))
        writer.beside(f"  {'' if (day, at) == (last_day, last_time) else at:8}  ", text)
        last_day, last_time = day, at


def _under(scene: Scene, incident: Incident) -> list[Incident]:
    """What the incident has brought about, as far as that is still open."""
    return [
        other
        for other in (scene.snapshot.incidents if scene.snapshot else ())
        if other.id in incident.children or other.parent == incident.id
    ]


def _children(writer: Writer, scene: Scene, children: Sequence[Incident]) -> None:
    if children:
        writer.heading("UNDER IT")
    for child in children:
        since = age(scene.now_s - child.opened_s)
        head = f"{scene.glyphs.severity(child.severity)} {child.severity.word} "
        writer.line(
            Run("  "),
            Run(head, SEVERITY_ROLES[child.severity]),
            Run(child.kind, Role.STRONG),
            Run(f" {since}  x{child.count}  " if child.count > 1 else f" {since}  "),
        )
        writer.verbatim((f"  {child.cause_text}",))
        _timeline(writer, child.evidence)
