"""For people and pull requests: a table of scenarios, then each one's expectations."""

from __future__ import annotations

from collections.abc import Sequence

from chaos.reports import Reported, seconds
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
    lines += [_expectation(one) for one in result.judged]
    others = [
        *(f"False page: {page.kind} on {page.subject} at {seconds(page.at_us)} (line {page.line})."
          for page in result.false_pages),
        *(f"Not steady: {text}." for text in result.unsteady),
        *(f"Unknown: {why}" for why in result.unknown),
    ]  # fmt: skip
    if others:
        lines += ["", *(f"* {text}" for text in others)]
    return lines


def _expectation(one: Judged) -> str:
    outcome, timing = one.outcome, one.timing
    within_us = None if timing.deadline_us is None else timing.deadline_us - timing.from_us
    margin_us = None
    if within_us is not None and outcome.measured_us is not None:
        margin_us = within_us - outcome.measured_us
    lines = ", ".join(str(line) for line in outcome.lines)
    cells = (
        f"`{_cell(one.expectation.text)}`",
        "met" if outcome.ok else f"**not met**: {_cell(outcome.why)}",
        seconds(outcome.measured_us),
        seconds(within_us),
        seconds(margin_us),
        lines,
    )
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("`", "'")
