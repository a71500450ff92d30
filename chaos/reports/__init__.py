"""Reports on verdicts, one form a file, each found by being here.

A report is a module with a function ``write(results)`` that returns the text of a file. Each
``Reported`` is a scenario's result with the journal that it rests on.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from chaos.journal import Record
from chaos.verdict import Result


@dataclass(frozen=True, slots=True)
class Reported:
    """A result, the file of its scenario, its journal, and how long it took in real seconds.

    ``output`` is what the runbook printed, all its runs one after another.
    """

    result: Result
    path: Path
    why: str
    records: tuple[Record, ...] = ()
    real_s: float = 0.0
    output: str = ""
    live: bool = False

    @property
    def again(self) -> str:
        """The command that runs it again, just so; what people played live never is."""
        if self.live:
            return f"gpuchaos console {self.path}"
        seed = f" --seed {self.result.seed}" if self.result.seed else ""
        return f"gpuchaos test {self.path}{seed}"


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


def seconds(us: int | None) -> str:
    """Microseconds as people read them: ``34 s``, ``2.5 s``, ``-``.

    >>> seconds(2_500_000)
    '2.5 s'
    """
    return "-" if us is None else f"{us / 1e6:.10g} s"
