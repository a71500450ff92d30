"""For the terminal: one line a scenario, and of what did not pass every expectation."""

from __future__ import annotations

from chaos.reports import Reported, seconds
from chaos.verdict import Judged, Result, Verdict

_MOST_LINES = 20
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
    if result.verdict is Verdict.PASS and not verbose:
        return [head]
    shown = [head]
    shown += [_expectation(one) for one in result.judged]
    shown += _others(result)
    if result.verdict is not Verdict.PASS:
        shown += _printed(reported.output)
        shown.append(f"        again: {reported.again}")
    return shown


def _expectation(one: Judged) -> str:
    outcome, timing, place = one.outcome, one.timing, one.expectation.place
    word = "met" if outcome.ok else "NOT MET"
    measured = ""
    if outcome.measured_us is not None:
        measured = f" after {seconds(outcome.measured_us)}"
    if timing.deadline_us is not None:
        within_us = timing.deadline_us - timing.from_us
        measured += f" (within {seconds(within_us)}"
        if outcome.ok and outcome.measured_us is not None:
            measured += f", {seconds(within_us - outcome.measured_us)} to spare"
        measured += ")"
    lines = ", ".join(str(line) for line in outcome.lines)
    where = f" [line {lines}]" if lines else ""
    return f"        {word:8}{one.expectation.text}: {outcome.why}{measured}{where}" + (
        "" if outcome.ok else f"  {place}"
    )


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
