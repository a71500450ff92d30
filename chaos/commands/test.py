"""``gpuchaos test``."""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from chaos import registry
from chaos.commands import Arguments
from chaos.consistency import check_somebody_acts
from chaos.drill import check_testable, drill_of
from chaos.errors import UsageError
from chaos.journal import Journal, TextOut
from chaos.library import find_scenario
from chaos.loader import load
from chaos.reports import FORMS, Reported, report
from chaos.reports.text import lines
from chaos.scenario import Scenario
from chaos.verdict import Verdict


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
        parser.add_argument("--seed", type=int, metavar="N", help="another seed than the file's")
        parser.add_argument(
            "--journal", type=Path, metavar="FILE", help="write the journal of one scenario"
        )
        parser.add_argument("-v", "--verbose", action="store_true", help="every expectation")
        for form in FORMS:
            parser.add_argument(
                f"--{form}", type=Path, metavar="FILE", help=f"write a report: {form}"
            )

    def run(self, arguments: Arguments) -> int:
        """Every mistake in any file is told before the first is run."""
        options = arguments.options
        scenarios = _loaded(options.scenarios)
        if scenarios is None:
            return 254
        if options.journal and len(scenarios) > 1:
            raise UsageError("--journal takes one scenario: each has a journal of its own.")
        reported = []
        with ExitStack() as stack:
            out = None
            if options.journal:
                out = stack.enter_context(options.journal.open("w", encoding="utf-8"))
            stack.enter_context(_interrupted_by_a_request_to_end())
            registry.sweep_tests()
            interruption: KeyboardInterrupt | None = None
            for scenario in scenarios:
                one, interruption = _tested(scenario, options.seed, out)
                reported.append(one)
                print("\n".join(lines(one, verbose=options.verbose)), flush=True)
                if interruption is not None:
                    break
        _write_reports(options, reported)
        if interruption is not None:
            asked_to_end = isinstance(interruption, _AskedToEnd)
            return 128 + (signal.SIGTERM if asked_to_end else signal.SIGINT)
        return _exit_code(reported)


class _AskedToEnd(KeyboardInterrupt):
    """SIGTERM came: it ends a run as Ctrl-C does."""


@contextmanager
def _interrupted_by_a_request_to_end() -> Iterator[None]:
    def end(number: int, frame: FrameType | None) -> None:
        raise _AskedToEnd

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _loaded(names: Sequence[str]) -> list[Scenario] | None:
    """All of them, or None if one has mistakes, which have been told."""
    scenarios: list[Scenario] = []
    wrong = False
    for name in names:
        try:
            scenario = load(find_scenario(name))
            check_testable(scenario)
            check_somebody_acts(scenario)
        except UsageError as error:
            print(error.told(), file=sys.stderr)
            wrong = True
        else:
            scenarios.append(scenario)
    return None if wrong else scenarios


def _tested(
    scenario: Scenario, seed: int | None, out: TextOut | None
) -> tuple[Reported, KeyboardInterrupt | None]:
    """What came of a scenario, and what cut it short."""
    began_s = time.monotonic()
    journal = Journal(out)
    run = drill_of(scenario.seeded(seed), journal)
    result = run.run()
    reported = Reported(
        result,
        scenario.path,
        scenario.why,
        tuple(journal.records),
        time.monotonic() - began_s,
        run.output.decode(errors="replace"),
    )
    return reported, run.interruption


def _write_reports(options: argparse.Namespace, reported: Sequence[Reported]) -> None:
    for form in FORMS:
        path: Path | None = getattr(options, form)
        if path is None:
            continue
        try:
            path.write_text(report(form).write(reported), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror}.") from error


def _exit_code(reported: Sequence[Reported]) -> int:
    """The worst: unknown outranks fail."""
    verdicts = {one.result.verdict for one in reported}
    return max((verdict.exit_code for verdict in verdicts), default=Verdict.PASS.exit_code)
