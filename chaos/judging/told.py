"""A run as its journal tells it: what was expected, how it came out, and nothing but the file.

What is expected is written when the run begins, so that a journal that was cut short still says
what it was about; outcomes and the verdict are its last lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chaos.errors import Place, UsageError
from chaos.expectation import Outcome, Timing, Written
from chaos.journal import Journal, Record
from chaos.journal_file import JournalFile
from chaos.scenario import Scenario
from chaos.verdict import FalsePage, Judged, Result, Verdict
from fakes.clock import SECOND_US

_CUT = "the journal ends before it was decided"


@dataclass(frozen=True, slots=True)
class Told:
    """What a journal says of its run. ``file`` is the scenario's, without its folder."""

    result: Result
    file: str
    why: str
    live: bool
    reseeded: bool
    records: tuple[Record, ...]


def write_start(journal: Journal, scenario: Scenario, *, live: bool = False) -> None:
    """The first lines: what runs here, and what is expected of it."""
    fleet = scenario.given.fleet
    facts: dict[str, Any] = {
        "scenario": scenario.name,
        "why": scenario.why,
        "file": scenario.path.name,
        "seed": scenario.seed,
        "nodes": fleet.nodes,
        "gpus": fleet.gpus,
        "model": fleet.model,
        "scheduler": fleet.scheduler,
    }
    if scenario.reseeded:
        facts["reseeded"] = True
    if scenario.drawn:
        facts["drawn"] = dict(scenario.drawn)
    if live:
        facts["live"] = True
    journal.write(0, "start", facts)
    inventory = scenario.inventory
    for one in scenario.terms.expectations:
        timing = scenario.terms.timing(one, scenario.begins_us, scenario.starts_us)
        place = one.place
        facts = {
            "position": one.position,
            "at": f"{scenario.path.name}:{place.line}:{place.column}",
            "text": one.text,
            "from_s": timing.from_us / SECOND_US,
            "deadline_s": _seconds(timing.deadline_us),
            "hold_s": timing.hold_us / SECOND_US,
            "waits": one.expected.judge(timing, inventory).waits,
        }
        journal.write(0, "expect", facts)


def write_verdict(journal: Journal, at_us: int, result: Result) -> None:
    """The last lines: how each expectation came out, and what it comes to."""
    for one in result.judged:
        outcome = one.outcome
        came = {
            "position": one.expectation.position,
            "ok": outcome.ok,
            "measured_s": _seconds(outcome.measured_us),
            "why": outcome.why,
            "lines": list(outcome.lines),
        }
        journal.write(at_us, "outcome", came)
    facts = {
        "verdict": result.verdict.value,
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
    }
    journal.write(at_us, "verdict", facts)


def told_by(file: JournalFile) -> Told:
    """What a journal tells. One that is no run's is a :class:`UsageError`."""
    records = file.records
    if not records:
        problem = (
            "the journal is empty: nothing was noted."
            if file.ends_within_line is None
            else "the journal ends within its first line: nothing is known of the run."
        )
        raise UsageError(f"{file.path}: {problem}")
    start = records[0]
    if start.event != "start" or "scenario" not in start.facts:
        raise UsageError(
            f"{file.path}:1:1: this is no journal of a run: its first line is no 'start' of a "
            "scenario."
        )
    return _told(start.facts, file)


def _told(start: Mapping[str, Any], file: JournalFile) -> Told:
    records = file.records
    outcomes = {
        int(one.facts["position"]): _outcome(one.facts) for one in records if one.event == "outcome"
    }
    judged = tuple(
        _judged(one.facts, outcomes, str(start["file"])) for one in records if one.event == "expect"
    )
    last = records[-1]
    is_whole = last.event == "verdict" and file.ends_within_line is None
    verdict = last.facts if is_whole else None
    return Told(
        Result(
            str(start["scenario"]),
            int(start["seed"]),
            Verdict(verdict["verdict"]) if verdict else Verdict.UNKNOWN,
            judged,
            tuple(map(_page, verdict["false_pages"])) if verdict else (),
            tuple(map(str, verdict["unsteady"])) if verdict else (),
            tuple(map(str, verdict["unknown"])) if verdict else (_cut(file),),
            _end_us(records),
        ),
        str(start["file"]),
        str(start["why"]),
        bool(start.get("live")),
        bool(start.get("reseeded")),
        records,
    )


def _cut(file: JournalFile) -> str:
    """Where a journal that has no verdict ends."""
    last = file.records[-1]
    line, where = file.ends_within_line, "within"
    if line is None:
        line, where = last.number, "with"
    return (
        f"the journal was cut short: it ends {where} line {line}, "
        f"{last.at_us / SECOND_US:g} s into the run, and there is no verdict in it"
    )


def _end_us(records: Sequence[Record]) -> int:
    return next((one.at_us for one in records if one.event == "end"), records[-1].at_us)


def _judged(facts: Mapping[str, Any], outcomes: Mapping[int, Outcome], file: str) -> Judged:
    position = int(facts["position"])
    line, column = (int(number) for number in str(facts["at"]).rsplit(":", 2)[1:])
    from_us, hold_us = _microseconds(facts["from_s"]) or 0, _microseconds(facts["hold_s"]) or 0
    return Judged(
        Written(position, Place(file, line, column), str(facts["text"])),
        Timing(from_us, _microseconds(facts["deadline_s"]), hold_us),
        outcomes.get(position, Outcome(False, None, _CUT)),
        bool(facts["waits"]),
    )


def _outcome(facts: Mapping[str, Any]) -> Outcome:
    return Outcome(
        bool(facts["ok"]),
        _microseconds(facts["measured_s"]),
        str(facts["why"]),
        tuple(int(line) for line in facts["lines"]),
    )


def _page(facts: Mapping[str, Any]) -> FalsePage:
    at_us = _microseconds(facts["at_s"]) or 0
    return FalsePage(str(facts["kind"]), str(facts["subject"]), at_us, int(facts["line"]))


def _seconds(us: int | None) -> float | None:
    return None if us is None else us / SECOND_US


def _microseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * SECOND_US)


def lines_of(records: Iterable[Record], numbers: Iterable[int]) -> list[Record]:
    """The lines of a journal that have these numbers."""
    wanted = set(numbers)
    return [one for one in records if one.number in wanted]
