"""For the terminal: one line a scenario, and of what did not pass every expectation."""

from __future__ import annotations

from collections.abc import Sequence

from chaos.journal import Record
from chaos.reports import Reported, margin_us, seconds, within_us
from chaos.reports.words import at, deciding, said
from chaos.verdict import Judged, Result, Verdict

_MOST_LINES = 20
_MOST_DECIDING = 3
_MOST_COLUMNS = 500
_WORDS = {Verdict.PASS: "PASS", Verdict.FAIL: "FAIL", Verdict.UNKNOWN: "UNKNOWN"}


def lines(reported: Reported, *, verbose: bool = False) -> list[str]:
    """What is printed of a scenario. ``verbose`` shows the expectations also of one that passed."""
    result = reported.result
    met = sum(one.outcome.ok for one in result.judged)
    head = (
        f"{_WORDS[result.verdict]:8}{result.scenario}  "
        f"{met} of {len(result.judged)} expectations met in {seconds(result.end_us)} of the run, "
        f"{reported.real_s:.1f} s of yours"
    )
    found = _findings(reported)
    if result.verdict is Verdict.PASS and not verbose:
        return [head, *found]
    shown = [head]
    if reported.drawn:
        drawn = ", ".join(f"{name} = {value}" for name, value in reported.drawn.items())
        shown.append(f"        drawn by seed {result.seed}: {drawn}")
    for one in result.judged:
        shown += _expectation(one, reported.records)
    shown += [*_others(result), *found]
    if result.verdict is not Verdict.PASS:
        shown += _printed(reported.output)
        shown.append(f"        seed {result.seed}, again: {reported.again}")
    return shown


def _findings(reported: Reported) -> list[str]:
    return [
        f"        FINDING {one.slug}: {one.text} [line {one.line}, at {at(one.at_us)}]"
        for one in reported.findings
    ]


def _expectation(one: Judged, records: Sequence[Record]) -> list[str]:
    outcome, place = one.outcome, one.expectation.place
    word = "met" if outcome.ok else "NOT MET"
    measured = ""
    if outcome.measured_us is not None:
        measured = f" after {seconds(outcome.measured_us)}"
    time_us, left_us = within_us(one), margin_us(one)
    if time_us is not None:
        measured += f" (within {seconds(time_us)}"
        if left_us is not None and left_us >= 0:
            measured += f", {seconds(left_us)} to spare"
        elif left_us is not None:
            measured += f", {seconds(-left_us)} too late"
        measured += ")"
    numbers = ", ".join(str(line) for line in outcome.lines)
    where = f" [line {numbers}]" if numbers else ""
    shown = f"        {word:8}{one.expectation.text}: {outcome.why}{measured}{where}"
    if outcome.ok:
        return [shown]
    said_then = [
        f"                line {line.number}, at {at(line.at_us)}: {_clean(said(line))}"
        for line in deciding(records, outcome.lines)[:_MOST_DECIDING]
    ]
    return [f"{shown}  {place}", *said_then]


def _others(result: Result) -> list[str]:
    shown = [
        f"        FALSE PAGE  {page.kind} on {page.subject} at {seconds(page.at_us)}, which "
        f"nothing expects [line {page.line}]"
        for page in result.false_pages
    ]
    shown += [f"        NOT STEADY  {text}" for text in result.unsteady]
    shown += [f"        UNKNOWN     {why}" for why in result.unknown]
    return shown


def _printed(output: str) -> list[str]:
    """The last that the runbook printed, as a terminal may show it."""
    printed = output.splitlines()
    if not printed:
        return []
    last = printed[-_MOST_LINES:]
    of = f", the last {len(last)} of {len(printed)} lines" if len(printed) > len(last) else ""
    return [f"        the runbook printed{of}:", *(f"          | {_clean(one)}" for one in last)]


def _clean(line: str) -> str:
    shown = "".join(one if one.isprintable() else "?" for one in line.expandtabs())
    return shown if len(shown) <= _MOST_COLUMNS else f"{shown[: _MOST_COLUMNS - 3]}..."
