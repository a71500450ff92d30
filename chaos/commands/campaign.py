"""``gpuchaos campaign``."""

from __future__ import annotations

import argparse
import itertools
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from chaos.campaign import Campaign, Random, Tried, Varied, first_failure, smallest
from chaos.commands import Arguments
from chaos.errors import UsageError
from chaos.format.values import BadValueError, Duration, convert
from chaos.judging.script import script_runs
from chaos.library import find_scenario
from chaos.reports.text import lines
from chaos.testing import add_report_options, load_test, wants_reports, write_reports

_RUNS = 20


class CampaignCommand:
    """Run a scenario with what it varies, or random faults, again and again until a run fails.

    What fails is made as small as it can be, and printed as a scenario. The same --seed finds the
    same. A --runbook is called with the node and the GPU: ./drain.sh n0 3. Reports are on the
    smallest that fails, or on all runs if none does. Exit status: 0 none failed, 1 one did.
    """

    example = "gpuchaos campaign --runbook ./drain.sh --runs 100"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """What to run, and for how long."""
        parser.add_argument(
            "scenario", nargs="?", metavar="SCENARIO", help="one with 'vary'; random faults without"
        )
        parser.add_argument(
            "--runbook", type=Path, metavar="FILE", help="a runbook to try on random faults"
        )
        parser.add_argument("--runs", type=int, metavar="N", help=f"at most so many ({_RUNS})")
        parser.add_argument("--for", dest="duration", metavar="10m", help="or for so long")
        parser.add_argument("--seed", type=int, default=0, metavar="N", help="the first seed (0)")
        add_report_options(parser)

    def run(self, arguments: Arguments) -> int:
        """Run; print a line now and then, and what failed."""
        options = arguments.options
        campaign = _campaign(options.scenario, options.runbook)
        runs = 0
        last: Tried | None = None
        ended: Counter[int | None] = Counter()
        to_report = []
        for tried in first_failure(campaign, _seeds(options)):
            runs, last = runs + 1, tried
            ended.update(one.status for one in script_runs(tried.reported.records))
            if wants_reports(options):
                to_report.append(tried.reported)
        if last is None or not last.failed:
            print(f"{runs} runs, seeds {options.seed} to {options.seed + runs - 1}: none failed.")
            if campaign.has_runbook:
                print(_told(ended))
            write_reports(options, to_report)
            return 0
        small = smallest(campaign, last)
        print("\n".join(lines(small.reported)))
        print(f"\nrun {runs} failed, of seed {last.seed}; the smallest that fails like it:\n")
        print(small.text, end="")
        write_reports(options, [small.reported])
        return 1


def _told(ended: Counter[int | None]) -> str:
    """How a runbook ended, for one that does nothing fails nothing either."""
    if not ended:
        return "The runbook was never started: nothing that happened was for it."
    ways = ", ".join(
        f"{times} x {'not ended' if status is None else f'exit {status}'}"
        for status, times in ended.most_common()
    )
    return f"The runbook was started {ended.total()} times: {ways}."


def _campaign(name: str | None, runbook: Path | None) -> Campaign:
    if name is None:
        if runbook is not None and not runbook.is_file():
            raise UsageError(f"--runbook: there is no file {runbook}.")
        return Random(None if runbook is None else runbook.resolve())
    if runbook is not None:
        raise UsageError("give a scenario, which has its own runbook, or --runbook, and not both.")
    scenario = load_test(find_scenario(name))
    if not scenario.vary:
        raise UsageError(
            f"{scenario.path}: it varies nothing: give it 'vary', as in "
            "vary: {burst.xid.times: 1..40}."
        )
    return Varied(scenario)


def _seeds(options: argparse.Namespace) -> Iterator[int]:
    """The seeds to run, until there were enough, or the time is over."""
    if options.runs is not None and options.runs < 1:
        raise UsageError(f"--runs: at least 1, not {options.runs}.")
    seeds = itertools.count(options.seed)
    if options.duration is None:
        yield from itertools.islice(seeds, options.runs or _RUNS)
        return
    try:
        until_s = time.monotonic() + convert(options.duration, Duration).us / 1e6
    except BadValueError as error:
        raise UsageError(f"--for: {error}") from error
    most = options.runs or 1 << 62
    for seed in itertools.islice(seeds, most):
        yield seed
        if time.monotonic() >= until_s:
            return
