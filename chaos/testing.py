"""Tests of scenarios: loaded, run one after another or side by side, and reported.

What ``gpuchaos test``, the reports from journals and the plug-in for pytest have in common.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from chaos.errors import UsageError
from chaos.format.consistency import check_somebody_acts
from chaos.format.loader import load
from chaos.journal import Journal
from chaos.library import find_scenario
from chaos.real_time import registry
from chaos.reports import FORMS, Reported, report
from chaos.scenario import Scenario
from chaos.verdict import Verdict
from chaos.virtual.drill import check_testable, drill_of


@dataclass(frozen=True, slots=True)
class Tested:
    """What came of a scenario. ``signal`` is the one that cut it short, 0 if none did."""

    reported: Reported
    signal: int = 0


class _AskedToEnd(KeyboardInterrupt):
    """SIGTERM came: it ends a run as Ctrl-C does."""


@contextmanager
def interrupted_by_a_request_to_end() -> Iterator[None]:
    """Within the block SIGTERM is an interruption, like Ctrl-C."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _AskedToEnd

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def loaded(names: Sequence[str]) -> list[Scenario] | None:
    """All of them, or None if one has mistakes, which have been told."""
    scenarios: list[Scenario] = []
    wrong = False
    for name in names:
        try:
            scenario = load_test(find_scenario(name))
        except UsageError as error:
            print(error.told(), file=sys.stderr)
            wrong = True
        else:
            scenarios.append(scenario)
    return None if wrong else scenarios


def load_test(path: Path) -> Scenario:
    """A scenario that can be tested; whatever is wrong with it is a :class:`UsageError`."""
    scenario = load(path)
    check_testable(scenario)
    check_somebody_acts(scenario)
    return scenario


def run_test(scenario: Scenario, seed: int | None = None, journal: Path | None = None) -> Tested:
    """Run one in virtual time. ``journal`` gets its lines as they are written."""
    began_s = time.monotonic()
    with ExitStack() as stack:
        out = None
        if journal is not None:
            try:
                out = stack.enter_context(journal.open("w", encoding="utf-8"))
            except OSError as error:
                raise UsageError(f"{journal}: cannot be written: {error.strerror}.") from error
        lines = Journal(out)
        run = drill_of(scenario.seeded(seed), lines)
        result = run.run()
    number = 0
    if run.interruption is not None:
        asked_to_end = isinstance(run.interruption, _AskedToEnd)
        number = int(signal.SIGTERM if asked_to_end else signal.SIGINT)
    return Tested(
        Reported(
            result,
            scenario.path,
            scenario.why,
            tuple(lines.records),
            time.monotonic() - began_s,
            run.output.decode(errors="replace"),
            reseeded=run.scenario.reseeded,
        ),
        number,
    )


def run_tests(
    scenarios: Sequence[Scenario],
    seed: int | None,
    journals: Sequence[Path | None],
    side_by_side: int = 1,
) -> Iterator[Tested]:
    """Run them, and yield each in their order. After an interruption there are no more."""
    registry.sweep_tests()
    if side_by_side == 1 or len(scenarios) < 2:
        for scenario, journal in zip(scenarios, journals, strict=True):
            tested = run_test(scenario, seed, journal)
            yield tested
            if tested.signal:
                return
        return
    # Only here: they are large, and most tests run alone.
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    # nvidia-ml-py knows one library in a process: those that run at a time need one each.
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(side_by_side, mp_context=context) as pool:
        waiting = [
            pool.submit(run_test, scenario, seed, journal)
            for scenario, journal in zip(scenarios, journals, strict=True)
        ]
        for one in waiting:
            tested = one.result()
            yield tested
            if tested.signal:
                pool.shutdown(cancel_futures=True)
                return


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Where reports go."""
    for form in FORMS:
        parser.add_argument(f"--{form}", type=Path, metavar="FILE", help=f"write a report: {form}")


def wants_reports(options: argparse.Namespace) -> bool:
    """Whether a report was asked for."""
    return any(getattr(options, form) is not None for form in FORMS)


def write_reports(options: argparse.Namespace, reported: Sequence[Reported]) -> None:
    """Write those that were asked for."""
    for form in FORMS:
        path: Path | None = getattr(options, form)
        if path is None:
            continue
        try:
            path.write_text(report(form).write(reported), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{path}: cannot be written: {error.strerror}.") from error


def exit_code(reported: Sequence[Reported]) -> int:
    """The worst: unknown outranks fail."""
    verdicts = {one.result.verdict for one in reported}
    return max((verdict.exit_code for verdict in verdicts), default=Verdict.PASS.exit_code)
