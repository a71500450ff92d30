"""Reports on verdicts, one form a file, each found by being here.

A report is a module with a function ``write(results)`` that returns the text of a file. Each
``Reported`` is a scenario's result with the journal that it rests on.
"""

from __future__ import annotations

import importlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from chaos.finding import Finding, findings
from chaos.journal import Record
from chaos.judging.score import Score, score
from chaos.judging.told import Told
from chaos.verdict import Judged, Result


@dataclass(frozen=True, slots=True)
class Reported:
    """A result, the file of its scenario, its journal, and how long it took in real seconds.

    ``output`` is what the runbook printed, all its runs one after another; ``live``: people played
    it; ``reseeded``: its seed is another than the file's.
    """

    result: Result
    path: Path
    why: str
    records: tuple[Record, ...] = ()
    real_s: float = 0.0
    output: str = ""
    live: bool = False
    reseeded: bool = False

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is to be said of the runbook, whatever the verdict."""
        return findings(self.records)

    @property
    def score(self) -> Score | None:
        """What people who played it have earned."""
        return score(self.result, self.records) if self.live else None

    @property
    def drawn(self) -> Mapping[str, str]:
        """What was drawn for what varies."""
        start = self.records[0].facts if self.records else {}
        drawn: Mapping[str, str] = start.get("drawn", {})
        return drawn

    @property
    def again(self) -> str:
        """The command that runs it again, just so; what people played live never is."""
        if self.live:
            return f"gpuchaos console {shlex.quote(str(self.path))}"
        seed = f" --seed {self.result.seed}" if self.reseeded else ""
        return f"gpuchaos test {shlex.quote(str(self.path))}{seed}"


class Report(Protocol):
    """A module of this package."""

    def write(self, results: Sequence[Reported]) -> str:
        """The text of the report."""
        ...


FORMS = ("junit", "json", "md", "html")
"""The forms that ``gpuchaos test`` writes into files."""

_MODULES = {"md": "markdown"}


def report(form: str) -> Report:
    """The report of a form; only its own module is imported."""
    return cast("Report", importlib.import_module(f"{__name__}.{_MODULES.get(form, form)}"))


def reported(told: Told) -> Reported:
    """A journal's own account of its run, as a report takes it."""
    return Reported(
        told.result,
        Path(told.file),
        told.why,
        told.records,
        live=told.live,
        reseeded=told.reseeded,
    )


def within_us(one: Judged) -> int | None:
    """How long after its beginning an expectation's deadline is."""
    deadline_us = one.timing.deadline_us
    return None if deadline_us is None else deadline_us - one.timing.from_us


def margin_us(one: Judged) -> int | None:
    """How much of its time was left over; less than nothing, if it came too late."""
    time_us, measured_us = within_us(one), one.outcome.measured_us
    return None if time_us is None or measured_us is None else time_us - measured_us


def seconds(us: int | None) -> str:
    """Microseconds as people read them: ``34 s``, ``2.5 s``, ``-``.

    >>> seconds(2_500_000)
    '2.5 s'
    """
    return "-" if us is None else f"{round(us / 1e6, 2):.10g} s"
