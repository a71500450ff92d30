"""What a user did wrong, in one line: what was found, and what was expected."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


class UsageError(Exception):
    """A mistake in a command or a scenario: one line on stderr, exit 254."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file, counted from 1, as editors do."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class ScenarioError(UsageError):
    """A mistake in a scenario file, with its place."""

    def __init__(self, place: Place, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem


def known(words: Iterable[str], what: str = "Known") -> str:
    """A sentence that lists what there is: `` Known: a, b.``; nothing if there is nothing."""
    listed = ", ".join(words)
    return f" {what}: {listed}." if listed else ""


def did_you_mean(word: str, words: Iterable[str], what: str = "Known") -> str:
    """What to say after an unknown word: the nearest known one, if any is near, and all of them."""
    choices = list(words)
    near = difflib.get_close_matches(word.lower(), choices, n=1, cutoff=0.6)
    guess = f" Did you mean '{near[0]}'?" if near else ""
    return f".{guess}{known(choices, what)}"
