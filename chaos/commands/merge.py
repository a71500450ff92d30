"""``gpuchaos merge``."""

from __future__ import annotations

import argparse
from pathlib import Path

from chaos.commands import Arguments
from chaos.journal_file import read_journal
from chaos.judging.told import told_by
from chaos.reports import reported
from chaos.reports.text import lines
from chaos.testing import add_report_options, exit_code, write_reports


class MergeCommand:
    """Tell from the journals of many runs, of the shards of a test say, how they came out.

    Exit status: 0 all passed, 1 one failed, 2 of one nobody knows.
    """

    example = "gpuchaos merge shard-*/*.jsonl --junit all.xml"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Journals, and where reports go."""
        parser.add_argument(
            "journals", type=Path, nargs="+", metavar="JOURNAL", help="what --journal wrote"
        )
        add_report_options(parser)

    def run(self, arguments: Arguments) -> int:
        """Read them all; print one line each, and more of what did not pass."""
        paths = arguments.options.journals
        found = [reported(told_by(read_journal(path))) for path in paths]
        found.sort(key=lambda one: (one.result.scenario, one.result.seed))
        for one in found:
            print("\n".join(lines(one)))
        write_reports(arguments.options, found)
        return exit_code(found)
