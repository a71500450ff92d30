"""Campaigns: many runs with what varies drawn anew, until one fails; then the smallest that does.

Every run is a function of its seed: a campaign that is repeated finds the same. What fails is made
smaller one step at a time, for as long as it still fails at the same expectation.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from chaos.expectations.started import StartExpected
from chaos.fault import ArgumentError
from chaos.fault_parts.random_faults import Drawn, draw_faults, scenario_text
from chaos.format.loader import load
from chaos.format.rewriting import rewritten
from chaos.format.variation import draw, varied
from chaos.reports import Reported
from chaos.scenario import Scenario
from chaos.testing import run_test
from chaos.verdict import Result, Verdict

NAME = "campaign"


@dataclass(frozen=True, slots=True)
class Tried:
    """A run of a campaign. ``text`` is its scenario's file, ``drawn`` what varied in it."""

    seed: int
    reported: Reported
    text: str
    drawn: Mapping[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether anything but a pass came of it."""
        return self.reported.result.verdict is not Verdict.PASS

    @property
    def failures(self) -> frozenset[str]:
        """What it failed at: expectations, and what cannot be judged."""
        result = self.reported.result
        missed = {one.expectation.text for one in result.judged if not one.outcome.ok}
        pages = {f"{page.kind} on nobody's list" for page in result.false_pages}
        return frozenset(missed | pages | set(result.unsteady) | set(result.unknown))


class Varied:
    """A campaign over what a scenario varies."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self.has_runbook = scenario.terms.runbook is not None

    def run(self, seed: int) -> Tried:
        """One run."""
        return self._run(seed, draw(self._scenario, seed))

    def smaller(self, tried: Tried) -> Iterator[Callable[[], Tried]]:
        """Runs that are smaller than one: each value nearer to its tamest, one at a time."""
        for one in self._scenario.vary:
            value = tried.drawn.get(one.name)
            choices = list(one.choices)
            if value not in choices:
                continue
            at = choices.index(value)
            for index in dict.fromkeys((0, at // 2, at - 1)):
                if 0 <= index < at:
                    drawn = {**tried.drawn, one.name: choices[index]}
                    yield lambda drawn=drawn: self._run(tried.seed, drawn)  # type: ignore[misc]

    def _run(self, seed: int, drawn: Mapping[str, str]) -> Tried:
        scenario = replace(varied(self._scenario, drawn), seed=seed, reseeded=True)
        text = rewritten(self._scenario.path, drawn)
        return Tried(seed, run_test(scenario).reported, text, drawn)


class Random:
    """A campaign over all faults, with a runbook or without one."""

    def __init__(self, runbook: Path | None) -> None:
        self._runbook = runbook
        self.has_runbook = runbook is not None
        self._faults: dict[str, tuple[Drawn, ...]] = {}

    def run(self, seed: int) -> Tried:
        """One run."""
        return self._run(seed, draw_faults(seed))

    def smaller(self, tried: Tried) -> Iterator[Callable[[], Tried]]:
        """Runs with a fault less."""
        faults = self._faults[tried.text]
        for index in range(len(faults)):
            fewer = (*faults[:index], *faults[index + 1 :])
            if fewer:
                yield lambda fewer=fewer: self._run(tried.seed, fewer)  # type: ignore[misc]

    def _run(self, seed: int, faults: tuple[Drawn, ...]) -> Tried:
        text = scenario_text(NAME, faults, seed, self._runbook)
        self._faults[text] = faults
        with tempfile.TemporaryDirectory(prefix="gpuchaos-") as folder:
            path = Path(folder) / f"{NAME}.yaml"
            path.write_text(text, encoding="utf-8")
            scenario = _without_start(load(path))
            reported = run_test(scenario).reported
            result = _placed(_without_idle_faults(reported.result, path))
            reported = replace(reported, result=result)
        return Tried(seed, replace(reported, path=Path(f"{NAME}.yaml")), text)


def _without_start(scenario: Scenario) -> Scenario:
    """Not every random fault is one that the runbook is for."""
    kept = tuple(
        one for one in scenario.terms.expectations if not isinstance(one.expected, StartExpected)
    )
    return replace(scenario, terms=replace(scenario.terms, expectations=kept))


def _without_idle_faults(result: Result, path: Path) -> Result:
    """A random fault may find nothing left to break: that says nothing of anybody."""
    unknown = tuple(why for why in result.unknown if not why.startswith(f"{path}:"))
    met = all(one.outcome.ok for one in result.judged)
    failed = bool(result.false_pages or result.unsteady or not met)
    verdict = Verdict.UNKNOWN if unknown else Verdict.FAIL if failed else Verdict.PASS
    return replace(result, unknown=unknown, verdict=verdict)


def _placed(result: Result) -> Result:
    """A result whose expectations stand in the file that is printed: ours is gone by then."""
    judged = []
    for one in result.judged:
        place = replace(one.expectation.place, file=f"{NAME}.yaml")
        judged.append(replace(one, expectation=replace(one.expectation, place=place)))
    return replace(result, judged=tuple(judged))


Campaign = Varied | Random


def first_failure(campaign: Campaign, seeds: Sequence[int] | Iterator[int]) -> Iterator[Tried]:
    """Every run, until one has failed."""
    for seed in seeds:
        tried = campaign.run(seed)
        yield tried
        if tried.failed:
            return


def smallest(campaign: Campaign, tried: Tried) -> Tried:
    """The smallest run that still fails at something that this one failed at."""
    while True:
        for make in campaign.smaller(tried):
            try:
                again = make()
            except ArgumentError:
                continue  # these values do not go together
            if again.failed and again.failures & tried.failures:
                tried = again
                break
        else:
            return tried
