"""For people who look: one page that needs nothing else, with a drawn timeline of each scenario.

Faults and incidents are bars from their beginning to their end, calls and actions are marks, and
deadlines are lines. Everything is from the journal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from chaos.journal import Record
from chaos.reports import Reported, seconds
from chaos.verdict import Judged
from fakes.clock import SECOND_US

_WIDTH = 900
_LABELS = 230
_LANE = 20
_MOST_MARKS = 400

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
td, th { border-bottom: 1px solid #8884; padding: .3rem .6rem; text-align: left; }
td { vertical-align: top; }
code { font-size: 13px; }
.pass { color: #1a7f37; } .fail { color: #cf222e; } .unknown { color: #9a6700; }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: currentColor; }
.fault { fill: #cf222e99; } .incident { fill: #bf870099; } .action { fill: #0969da; }
.call { fill: #8888; } .axis { stroke: #8888; }
.deadline { stroke: #8250df; stroke-dasharray: 4 3; }
"""


def write(results: Sequence[Reported]) -> str:
    """The page."""
    body = "\n".join(_section(one) for one in results)
    return (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n<title>gpuchaos</title>\n'
        f"<style>{_STYLE}</style>\n<h1>gpuchaos</h1>\n{_overview(results)}\n{body}\n</html>\n"
    )


def _overview(results: Sequence[Reported]) -> str:
    rows = "".join(
        f'<tr><td><a href="#{escape(one.result.scenario)}">{escape(one.result.scenario)}</a></td>'
        f'<td class="{one.result.verdict.value}">{one.result.verdict.value}</td>'
        f"<td>{sum(j.outcome.ok for j in one.result.judged)} of {len(one.result.judged)}</td>"
        f"<td>{seconds(one.result.end_us)}</td><td><code>{escape(one.again)}</code></td></tr>\n"
        for one in results
    )
    head = "<tr><th>scenario</th><th>verdict</th><th>met</th><th>run</th><th>again</th></tr>"
    return f"<table>{head}\n{rows}</table>"


def _section(reported: Reported) -> str:
    result = reported.result
    rows = "".join(_row(one) for one in result.judged)
    others = [
        *(
            f"False page: {page.kind} on {page.subject} at {seconds(page.at_us)}."
            for page in result.false_pages
        ),
        *(f"Not steady: {text}." for text in result.unsteady),
        *(f"Unknown: {why}" for why in result.unknown),
    ]
    listed = "".join(f"<li>{escape(text)}</li>" for text in others)
    return (
        f'<h2 id="{escape(result.scenario)}">{escape(result.scenario)}: '
        f'<span class="{result.verdict.value}">{result.verdict.value}</span></h2>\n'
        f"<p>{escape(reported.why)}</p>\n{_timeline(reported)}\n"
        "<table><tr><th>expected</th><th></th><th>measured</th><th>deadline</th><th>margin</th>"
        f"<th>journal</th></tr>\n{rows}</table>\n" + (f"<ul>{listed}</ul>" if listed else "")
    )


def _row(one: Judged) -> str:
    outcome, timing = one.outcome, one.timing
    within_us = None if timing.deadline_us is None else timing.deadline_us - timing.from_us
    margin_us = None
    if within_us is not None and outcome.measured_us is not None:
        margin_us = within_us - outcome.measured_us
    word = "pass" if outcome.ok else "fail"
    cells = (
        f"<code>{escape(one.expectation.text)}</code>",
        f'<span class="{word}">{escape(outcome.why)}</span>',
        seconds(outcome.measured_us),
        seconds(within_us),
        seconds(margin_us),
        ", ".join(str(line) for line in outcome.lines),
    )
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>\n"


# --- the timeline ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Bar:
    """Something that lasts, or (without an end) a moment."""

    lane: str
    sort: str
    from_us: int
    to_us: int | None
    title: str


def _timeline(reported: Reported) -> str:
    end_us = max(reported.result.end_us, 1)
    bars = [*_lasting(reported.records, end_us), *_moments(reported.records)]
    lanes = list(dict.fromkeys(bar.lane for bar in bars))
    height = (len(lanes) + 2) * _LANE
    parts = [f'<svg viewBox="0 0 {_LABELS + _WIDTH + 20} {height}" role="img">']
    for number, lane in enumerate(lanes):
        y = number * _LANE
        parts.append(f'<text x="0" y="{y + 14}">{escape(lane[:34])}</text>')
        parts += (_drawn(bar, y, end_us) for bar in bars if bar.lane == lane)
    parts += _axis(end_us, len(lanes) * _LANE)
    parts += _deadlines(reported.result.judged, end_us, len(lanes) * _LANE)
    return "\n".join([*parts, "</svg>"])


def _x(at_us: int, end_us: int) -> float:
    return _LABELS + _WIDTH * min(at_us, end_us) / end_us


def _drawn(bar: _Bar, y: int, end_us: int) -> str:
    x = _x(bar.from_us, end_us)
    title = f"<title>{escape(bar.title)}</title>"
    if bar.to_us is None:
        return f'<circle class="{bar.sort}" cx="{x:.1f}" cy="{y + 10}" r="4">{title}</circle>'
    width = max(_x(bar.to_us, end_us) - x, 2)
    return (
        f'<rect class="{bar.sort}" x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="14" rx="3">'
        f"{title}</rect>"
    )


def _axis(end_us: int, y: int) -> Iterator[str]:
    yield f'<line class="axis" x1="{_LABELS}" x2="{_LABELS + _WIDTH}" y1="{y + 4}" y2="{y + 4}"/>'
    for part in range(6):
        at_us = end_us * part // 5
        x = _x(at_us, end_us)
        label = f"{at_us / SECOND_US:.0f} s"
        yield f'<text x="{x:.1f}" y="{y + 20}" text-anchor="middle">{label}</text>'


def _deadlines(judged: Sequence[Judged], end_us: int, y: int) -> Iterator[str]:
    for one in judged:
        if one.timing.deadline_us is not None:
            x = _x(one.timing.deadline_us, end_us)
            title = escape(f"deadline: {one.expectation.text}")
            yield (
                f'<line class="deadline" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{y}">'
                f"<title>{title}</title></line>"
            )


def _lasting(records: Sequence[Record], end_us: int) -> Iterator[_Bar]:
    """Faults from their application to their healing, incidents from opening to clearing."""
    healed = {record.facts["id"]: record.at_us for record in records if record.event == "heal"}
    for record in records:
        if record.event == "fault":
            facts = record.facts
            arguments = ", ".join(f"{key}: {value}" for key, value in facts["arguments"].items())
            title = f"{facts['fault']}: {arguments}"
            until_us = healed.get(facts["id"], end_us)
            yield _Bar(f"fault {facts['id']}", "fault", record.at_us, until_us, title)
    opened: dict[str, Record] = {}
    for record in records:
        if record.event != "incident":
            continue
        incident = record.facts["incident"]
        first = opened.setdefault(incident["id"], record)
        if incident["cleared_s"] is not None:
            del opened[incident["id"]]
            yield _incident(first, record.at_us)
    for first in opened.values():
        yield _incident(first, end_us)


def _incident(first: Record, until_us: int) -> _Bar:
    incident = first.facts["incident"]
    whom = incident["host"] if incident["gpu"] is None else f"{incident['host']}/{incident['gpu']}"
    title = f"{incident['kind']} ({incident['severity']}): {incident['cause_text']}"
    return _Bar(f"{incident['kind']} {whom}", "incident", first.at_us, until_us, title)


def _moments(records: Sequence[Record]) -> Iterator[_Bar]:
    """Calls and actions."""
    marks = 0
    for record in records:
        if record.event == "call" and marks < _MOST_MARKS:
            marks += 1
            yield _Bar("calls", "call", record.at_us, None, " ".join(record.facts["argv"]))
        elif record.event == "action":
            facts = record.facts
            parts = (facts.get("node"), facts.get("gpu"), facts.get("job"))
            whom = "/".join(str(part) for part in parts if part is not None)
            refused = "" if facts.get("ok", True) else " (refused)"
            title = f"{facts['action']} {whom}{refused} {facts.get('detail', '')}"
            yield _Bar("actions", "action", record.at_us, None, title)
