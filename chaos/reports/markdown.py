"""For people and pull requests: a table of scenarios, then each one's expectations."""

from __future__ import annotations

from collections.abc import Sequence

from chaos.journal import Record
from chaos.reports import Reported, margin_us, seconds, within_us
from chaos.reports.words import at, deciding, said
from chaos.verdict import Judged


def write(results: Sequence[Reported]) -> str:
    """The document."""
    lines = ["| scenario | verdict | met | run | again |", "|---|---|---|---|---|"]
    lines += [_row(one) for one in results]
    for one in results:
        lines += ["", *_section(one)]
    return "\n".join(lines) + "\n"


def _row(reported: Reported) -> str:
    result = reported.result
    met = sum(one.outcome.ok for one in result.judged)
    return (
        f"| {_cell(result.scenario)} | **{result.verdict.value}** | {met} of {len(result.judged)} "
        f"| {seconds(result.end_us)} | `{_cell(reported.again)}` |"
    )


def _section(reported: Reported) -> list[str]:
    result = reported.result
    lines = [f"## {result.scenario}: {result.verdict.value}", "", reported.why, ""]
    lines += [
        "| expected | | measured | deadline | margin | journal |",
        "|---|---|---|---|---|---|",
    ]
    lines += [_expectation(one, reported.records) for one in result.judged]
    others = [
        *(f"False page: {page.kind} on {page.subject} at {seconds(page.at_us)} (line {page.line})."
          for page in result.false_pages),
        *(f"Not steady: {text}." for text in result.unsteady),
        *(f"Unknown: {why}" for why in result.unknown),
    ]  # fmt: skip
    if others:
        lines += ["", *(f"* {text}" for text in others)]
    if reported.findings:
        lines += ["", "About the runbook:", ""]
        lines += [
            f"* {_cell(one.slug)}: {_cell(one.text)} (line {one.line}, at {at(one.at_us)})."
            for one in reported.findings
        ]
    if reported.score is not None:
        lines += ["", "```", *reported.score.lines(), "```"]
    return lines


def _expectation(one: Judged, records: Sequence[Record]) -> str:
    outcome = one.outcome
    lines = "; ".join(
        f"{line.number}: {_cell(said(line))}" for line in deciding(records, outcome.lines[:3])
    )
    cells = (
        f"`{_cell(one.expectation.text)}`",
        "met" if outcome.ok else f"**not met**: {_cell(outcome.why)}",
        seconds(outcome.measured_us),
        seconds(within_us(one)),
        seconds(margin_us(one)),
        lines,
    )
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("`", "'")
