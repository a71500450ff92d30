"""``gpuchaos report``."""

from __future__ import annotations

import argparse
from pathlib import Path

from chaos.commands import Arguments
from chaos.journal_file import read_journal
from chaos.judging.told import told_by
from chaos.reports import reported
from chaos.reports.text import lines
from chaos.testing import add_report_options, write_reports


class ReportCommand:
    """Tell from a run's journal alone how it came out.

    Exit status: that of the verdict, 0 pass, 1 fail, 2 unknown.
    """

    example = "gpuchaos report journal.jsonl --html report.html"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """A journal, and where reports go."""
        parser.add_argument("journal", type=Path, metavar="JOURNAL", help="what --journal wrote")
        add_report_options(parser)

    def run(self, arguments: Arguments) -> int:
        """Read it; print every expectation, and write the reports."""
        path = arguments.options.journal
        one = reported(told_by(read_journal(path)))
        print("\n".join(lines(one, verbose=True)))
        if one.score is not None:
            print("\n".join(one.score.lines()))
        write_reports(arguments.options, [one])
        return one.result.verdict.exit_code
