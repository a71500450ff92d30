"""For people who look: one page that needs nothing else, with a drawn timeline of each scenario.

It has no script and loads nothing; it is as dark as the reader's system is. Everything on it is
from the journal, and each line that decided something leads to its place in the journal below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from chaos.journal import Record
from chaos.reports import Reported, margin_us, seconds, within_us
from chaos.reports.drawing import drawing
from chaos.reports.words import at, deciding, said
from chaos.verdict import Judged

_MOST_LINES = 1_000
_MOST_DECIDING = 4

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --line: #d1d9e0;
  --paper: #fff; --panel: #f6f8fa; --good: #1a7f37; --bad: #cf222e; --unsure: #9a6700;
  --fault: #cf222e; --critical: #d1242f; --warning: #d4a72c; --info: #8c959f;
  --action: #0969da; --call: #818b98; --deadline: #8250df; --hint: #bc4c00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --line: #3d444d;
  --paper: #0d1117; --panel: #151b23; --good: #3fb950; --bad: #f85149; --unsure: #d29922;
  --fault: #f85149; --critical: #f85149; --warning: #d29922; --info: #6e7681;
  --action: #4493f8; --call: #6e7681; --deadline: #ab7df8; --hint: #db6d28; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .3rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p { margin: .3rem 0; } .soft { color: var(--soft); }
table { border-collapse: collapse; width: 100%; margin: .6rem 0; }
td, th { border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: left;
  vertical-align: top; }
th { color: var(--soft); font-weight: 500; } td.figure, th.figure { text-align: right;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
.wide { overflow-x: auto; }
code, pre { font: 12.5px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
pre { background: var(--panel); padding: .6rem .8rem; white-space: pre-wrap; }
.said { display: block; color: var(--soft); font-size: 13px; }
.badge { border-radius: 1rem; padding: .05rem .7rem; color: var(--paper); font-size: .9rem; }
.badge.pass { background: var(--good); } .badge.fail { background: var(--bad); }
.badge.unknown { background: var(--unsure); }
.pass { color: var(--good); } .fail { color: var(--bad); } .unknown { color: var(--unsure); }
a { color: inherit; } ul { padding-left: 1.2rem; margin: .3rem 0; }
summary { cursor: pointer; color: var(--soft); margin-top: .8rem; }
ol.journal { list-style: none; padding: 0; margin: .5rem 0;
  font: 12.5px/1.6 ui-monospace, monospace; }
ol.journal li { display: grid; grid-template-columns: 3.5rem 5rem 5rem 1fr; gap: .6rem;
  overflow-wrap: anywhere; } ol.journal li:target { background: var(--panel); }
ol.journal span { color: var(--soft); text-align: right; }
svg { width: 100%; min-width: 46rem; height: auto; display: block; }
svg text { font: 11.5px system-ui, sans-serif; fill: var(--ink); }
svg .head { fill: var(--soft); font-weight: 600; }
svg .tick { fill: var(--soft); font-size: 10.5px; }
svg .grid { stroke: var(--line); stroke-width: .6; } svg .panel { fill: var(--panel); }
svg .fault { fill: var(--fault); opacity: .75; } svg .incident { opacity: .85; }
svg .critical { fill: var(--critical); } svg .warning { fill: var(--warning); }
svg .info { fill: var(--info); } svg .runbook { fill: var(--action); opacity: .35; }
svg .action { fill: var(--action); } svg .refused { fill: var(--paper); stroke: var(--action);
  stroke-width: 2; } svg .call { fill: var(--call); opacity: .6; } svg .hint { fill: var(--hint); }
svg .time { stroke: var(--deadline); stroke-width: 1.5; opacity: .5; }
svg .deadline { stroke: var(--deadline); stroke-width: 2.5; }
svg .never { stroke: var(--bad); stroke-width: 2.5; fill: none; }
svg .met { fill: var(--good); } svg .missed { fill: var(--bad); }
svg .curve { fill: none; stroke-width: 1.8; stroke: var(--c); } svg .name { fill: var(--c); }
.c0 { --c: #d1242f; } .c1 { --c: #0969da; } .c2 { --c: #1a7f37; } .c3 { --c: #8250df; }
.c4 { --c: #bc4c00; } .c5 { --c: #0e8a93; } .c6 { --c: #bf3989; } .c7 { --c: #7d8590; }
"""


def write(results: Sequence[Reported]) -> str:
    """The page."""
    body = "\n".join(_section(one, number) for number, one in enumerate(results, 1))
    overview = _overview(results) if len(results) != 1 else ""
    title = results[0].result.scenario if len(results) == 1 else f"{len(results)} scenarios"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>gpuchaos: {escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>gpuchaos: {escape(title)}</h1>\n{overview}\n{body}\n</body>\n</html>\n"
    )


def _overview(results: Sequence[Reported]) -> str:
    rows = "".join(
        f'<tr><td><a href="#s{number}">{escape(one.result.scenario)}</a></td>'
        f'<td class="{one.result.verdict.value}">{one.result.verdict.value}</td>'
        f"<td>{sum(j.outcome.ok for j in one.result.judged)} of {len(one.result.judged)}</td>"
        f'<td class="figure">{at(one.result.end_us)}</td>'
        f"<td><code>{escape(one.again)}</code></td></tr>\n"
        for number, one in enumerate(results, 1)
    )
    head = (
        '<tr><th>scenario</th><th>verdict</th><th>met</th><th class="figure">run</th>'
        "<th>again</th></tr>"
    )
    return f'<div class="wide"><table>{head}\n{rows}</table></div>'


def _section(reported: Reported, number: int) -> str:
    result = reported.result
    verdict = result.verdict.value
    parts = [
        f'<h2 id="s{number}">{escape(result.scenario)} '
        f'<span class="badge {verdict}">{verdict}</span></h2>',
        f"<p>{escape(reported.why)}</p>",
        f'<p class="soft">{escape(_circumstances(reported))}</p>',
        f"<p><code>{escape(reported.again)}</code></p>",
        *_listed("Why", "unknown", result.unknown),
        *_listed("Besides", "fail", _besides(reported)),
        f'<div class="wide">{drawing(reported)}</div>',
        _table(reported, number),
        *_findings(reported, number),
        *_score(reported),
        *_output(reported),
        _journal(reported, number),
    ]
    return "\n".join(parts)


def _circumstances(reported: Reported) -> str:
    result = reported.result
    met = sum(one.outcome.ok for one in result.judged)
    said_so = f"{met} of {len(result.judged)} met in {at(result.end_us)}, seed {result.seed}"
    drawn = ", ".join(f"{name} = {value}" for name, value in reported.drawn.items())
    return said_so + (f", drawn: {drawn}" if drawn else "")


def _besides(reported: Reported) -> Iterator[str]:
    for page in reported.result.false_pages:
        yield f"false page: {page.kind} on {page.subject} at {at(page.at_us)}: nothing expects it"
    for text in reported.result.unsteady:
        yield f"not steady: {text}"


def _listed(head: str, sort: str, texts: Iterable[str]) -> Iterator[str]:
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    if items:
        yield f'<h3 class="{sort}">{head}</h3>\n<ul>{items}</ul>'


def _table(reported: Reported, number: int) -> str:
    rows = "".join(_row(one, reported.records, number) for one in reported.result.judged)
    return (
        '<div class="wide"><table><tr><th class="figure">#</th><th>expected</th><th>came out</th>'
        '<th class="figure">measured</th><th class="figure">deadline</th>'
        f'<th class="figure">margin</th></tr>\n{rows}</table></div>'
    )


def _row(one: Judged, records: Sequence[Record], number: int) -> str:
    outcome = one.outcome
    word = "pass" if outcome.ok else "fail"
    lines = "".join(
        f'<span class="said"><a href="#s{number}l{line.number}">line {line.number}</a>, '
        f"{at(line.at_us)}: {escape(said(line))}</span>"
        for line in deciding(records, outcome.lines[:_MOST_DECIDING])
    )
    left_us = margin_us(one)
    margin = f'<span class="{"pass" if (left_us or 0) >= 0 else "fail"}">{seconds(left_us)}</span>'
    return (
        f'<tr><td class="figure">{one.expectation.position or ""}</td>'
        f"<td><code>{escape(one.expectation.text)}</code></td>"
        f'<td><span class="{word}">{"met" if outcome.ok else "not met"}</span>: '
        f"{escape(outcome.why)}{lines}</td>"
        f'<td class="figure">{seconds(outcome.measured_us)}</td>'
        f'<td class="figure">{seconds(within_us(one))}</td><td class="figure">{margin}</td></tr>\n'
    )


def _findings(reported: Reported, number: int) -> Iterator[str]:
    items = "".join(
        f"<li><code>{escape(one.slug)}</code>: {escape(one.text)} "
        f'(<a href="#s{number}l{one.line}">line {one.line}</a>, {at(one.at_us)})</li>'
        for one in reported.findings
    )
    if items:
        yield f"<h3>About the runbook</h3>\n<ul>{items}</ul>"


def _score(reported: Reported) -> Iterator[str]:
    if reported.score is not None:
        text = "\n".join(reported.score.lines())
        yield f"<h3>Score</h3>\n<pre>{escape(text)}</pre>"


def _output(reported: Reported) -> Iterator[str]:
    if reported.output:
        text = escape(reported.output)
        yield f"<details><summary>what the runbook printed</summary>\n<pre>{text}</pre></details>"


def _journal(reported: Reported, number: int) -> str:
    """The journal in words; readings are drawn above."""
    told = [one for one in reported.records if one.event not in ("reading", "expect", "outcome")]
    items = "".join(
        f'<li id="s{number}l{one.number}"><span>{one.number}</span><span>{at(one.at_us)}</span>'
        f"<code>{escape(one.event)}</code><code>{escape(said(one))}</code></li>\n"
        for one in told[:_MOST_LINES]
    )
    more = len(told) - _MOST_LINES
    rest = f"<p>and {more} more lines.</p>" if more > 0 else ""
    return (
        "<details open><summary>the journal, line by line</summary>\n"
        f'<ol class="journal">\n{items}</ol>{rest}</details>'
    )
