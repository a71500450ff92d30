"""Running the checks, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gputui.doctor.check import Check, Level, Result, unchecked
from gputui.doctor.site import Site

GOOD, WARNINGS, CRITICAL, COULD_NOT_CHECK = 0, 1, 2, 3
"""Exit codes of the doctor."""

_CODES = {
    Level.GOOD: GOOD,
    Level.SKIPPED: GOOD,
    Level.WARNING: WARNINGS,
    Level.UNCHECKED: COULD_NOT_CHECK,
    Level.CRITICAL: CRITICAL,
}


@dataclass(frozen=True, slots=True)
class Examined:
    """A result, and the check that found it."""

    check: Check
    result: Result


def examine(site: Site, checks: Iterable[Check]) -> tuple[Examined, ...]:
    """Every result of every check. One that fails by itself is a result, too."""
    found: list[Examined] = []
    for one in checks:
        try:
            results = list(one.look(site))
        except Exception as error:
            text = f"the check failed: {type(error).__name__}: {error}"
            results = [unchecked(text, fix=f"gputui doctor --only {one.name}, and report it")]
        found += [Examined(one, result) for result in results]
    return tuple(found)


def exit_code(found: Iterable[Examined]) -> int:
    """0 good, 1 warnings, 2 something critical, 3 something could not be checked."""
    return _CODES[max((one.result.level for one in found), default=Level.GOOD)]
