"""For programs: JSON lines, one a scenario."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from chaos.reports import Reported, margin_us, within_us
from chaos.verdict import Judged
from fakes.clock import SECOND_US


def write(results: Sequence[Reported]) -> str:
    """A line for each."""
    return "".join(json.dumps(_object(one), ensure_ascii=False) + "\n" for one in results)


def _object(reported: Reported) -> dict[str, Any]:
    result, earned = reported.result, reported.score
    incidents = {
        record.facts["incident"]["id"]: record.facts["incident"]
        for record in reported.records
        if record.event == "incident"
    }
    return {
        "scenario": result.scenario,
        "seed": result.seed,
        "verdict": result.verdict.value,
        "end_s": result.end_us / SECOND_US,
        "expectations": [_expectation(one) for one in result.judged],
        "false_pages": [
            {
                "kind": page.kind,
                "subject": page.subject,
                "at_s": page.at_us / SECOND_US,
                "line": page.line,
            }
            for page in result.false_pages
        ],
        "unsteady": list(result.unsteady),
        "unknown": list(result.unknown),
        "incidents": list(incidents.values()),
        "actions": [
            {"at_s": record.at_us / SECOND_US, **record.facts}
            for record in reported.records
            if record.event == "action"
        ],
        "findings": [
            {"finding": one.slug, "text": one.text, "at_s": one.at_us / SECOND_US, "line": one.line}
            for one in reported.findings
        ],
        "drawn": dict(reported.drawn),
        "output": reported.output,
        "score": None if earned is None else earned.points,
        "again": reported.again,
    }


def _expectation(one: Judged) -> dict[str, Any]:
    outcome = one.outcome
    time_us, left_us, measured_us = within_us(one), margin_us(one), outcome.measured_us
    return {
        "at": f"{one.expectation.place.file}:{one.expectation.place.line}",
        "text": one.expectation.text,
        "deadline_s": None if time_us is None else time_us / SECOND_US,
        "measured_s": None if measured_us is None else measured_us / SECOND_US,
        "margin_s": None if left_us is None else left_us / SECOND_US,
        "ok": outcome.ok,
        "why": outcome.why,
        "lines": list(outcome.lines),
    }
