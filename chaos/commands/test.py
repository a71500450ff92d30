"""``gpuchaos test``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from chaos.commands import Arguments
from chaos.errors import UsageError, quoted
from chaos.reports.text import lines
from chaos.scenario import Scenario
from chaos.testing import (
    add_report_options,
    exit_code,
    interrupted_by_a_request_to_end,
    loaded,
    run_tests,
    write_reports,
)

_SHARD = re.compile(r"([0-9]{1,5})/([0-9]{1,5})")
_MOST_SIDE_BY_SIDE = 256


class TestCommand:
    """Run scenarios in virtual time, and judge them by what is expected.

    Exit status: 0 all passed, 1 one failed, 2 of one nobody knows, 254 a mistake in a scenario;
    130 or 143 when it was interrupted.
    """

    example = "gpuchaos test scenarios/card/*.yaml --junit report.xml"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Scenarios, and where reports go."""
        parser.add_argument(
            "scenarios", nargs="+", metavar="SCENARIO", help="a file, or the name of a shipped one"
        )
        parser.add_argument(
            "--seed", type=int, metavar="N", help="another seed, and what varies drawn by it"
        )
        parser.add_argument(
            "-j", type=int, default=1, metavar="N", help="so many side by side (1)", dest="jobs"
        )
        parser.add_argument(
            "--shard", metavar="I/N", help="only the I-th of N parts, counted from 1"
        )
        parser.add_argument(
            "--journal", type=Path, metavar="FILE", help="a scenario's journal, or a folder of them"
        )
        parser.add_argument("-v", "--verbose", action="store_true", help="every expectation")
        add_report_options(parser)

    def run(self, arguments: Arguments) -> int:
        """Every mistake in any file is told before the first is run."""
        options = arguments.options
        if not 1 <= options.jobs <= _MOST_SIDE_BY_SIDE:
            raise UsageError(f"-j: a number from 1 to {_MOST_SIDE_BY_SIDE}, not {options.jobs}.")
        scenarios = loaded(_part(options.scenarios, options.shard))
        if scenarios is None:
            return 254
        journals = _journals(scenarios, options.journal)
        reported = []
        interrupted_by = 0
        with interrupted_by_a_request_to_end():
            for one in run_tests(scenarios, options.seed, journals, options.jobs):
                reported.append(one.reported)
                interrupted_by = one.signal
                print("\n".join(lines(one.reported, verbose=options.verbose)), flush=True)
        write_reports(options, reported)
        return 128 + interrupted_by if interrupted_by else exit_code(reported)


def _part(names: Sequence[str], shard: str | None) -> Sequence[str]:
    """Those of a part; the parts differ by one scenario at most."""
    if shard is None:
        return names
    match = _SHARD.fullmatch(shard)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"--shard: {quoted(shard)} is no part, such as 1/4.")
    return names[int(match[1]) - 1 :: int(match[2])]


def _journals(scenarios: Sequence[Scenario], path: Path | None) -> list[Path | None]:
    """The file for each: of several it lies in the folder that was given."""
    if path is None:
        return [None] * len(scenarios)
    if path.is_dir():
        return [path / f"{scenario.name}.jsonl" for scenario in scenarios]
    if len(scenarios) > 1:
        raise UsageError(
            "--journal: each scenario has a journal of its own: give a folder that is there for "
            f"{len(scenarios)} of them."
        )
    return [path] * len(scenarios)
