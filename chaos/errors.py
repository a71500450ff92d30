"""What a user did wrong, in one line: what was found, and what was expected."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_SHOWN_CHARACTERS = 60
_SHOWN_ERRORS = 20


def shortened(text: str, most: int = _SHOWN_CHARACTERS) -> str:
    """A user's words on one line: the middle is left out if there are many."""
    half = most // 2
    if len(text) > most:
        text = f"{text[:half]}...{text[-half + 3 :]}"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def quoted(text: str) -> str:
    """A user's word in quotes, shortened if it is long."""
    return f"'{shortened(text)}'"


class UsageError(Exception):
    """A mistake in a command or a scenario: one line on stderr, exit 254."""

    def told(self) -> str:
        """The line as the command prints it."""
        return f"gpuchaos: {self}"


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

    def told(self) -> str:
        """The line as the command prints it: the place comes first, so that editors can jump."""
        return str(self)


class BadScenarioError(UsageError):
    """Every mistake in a scenario file, in the order of the file."""

    def __init__(self, errors: Iterable[ScenarioError]) -> None:
        self.errors = tuple(sorted(errors, key=lambda e: (e.place.line, e.place.column)))
        super().__init__(self.told())

    def told(self) -> str:
        """A line each; of very many only the first."""
        lines = [error.told() for error in self.errors[:_SHOWN_ERRORS]]
        more = len(self.errors) - len(lines)
        if more:
            lines.append(f"{self.errors[0].place.file}: and {more} more.")
        return "\n".join(lines)


class Mistakes:
    """The mistakes found in a scenario file so far: one does not hide the next.

    What shows in several places and is mended in one (an id that is gone, and all that refer to
    it) is one mistake: it is told at the first, with the lines of the others.
    """

    def __init__(self) -> None:
        self._found: list[ScenarioError] = []
        self._same: dict[str, list[ScenarioError]] = {}

    def __len__(self) -> int:
        return len(self._found)

    def add(self, place: Place, problem: str, *, same: str = "") -> None:
        """Note a mistake. All with the same word for ``same`` are one."""
        error = ScenarioError(place, problem)
        if same:
            shown_in = self._same.setdefault(same, [])
            shown_in.append(error)
            if len(shown_in) > 1:
                return
        self._found.append(error)

    def pop(self) -> ScenarioError:
        """The last one, which is noted no longer."""
        return self._found.pop()

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note a mistake that ends this block."""
        try:
            yield
        except ScenarioError as error:
            self._found.append(error)

    def raise_any(self) -> None:
        """End here if there were mistakes."""
        if self._found:
            raise BadScenarioError(self._told())

    def _told(self) -> Iterator[ScenarioError]:
        by_first = {id(shown_in[0]): shown_in for shown_in in self._same.values()}
        for error in self._found:
            yield _at_the_first(by_first.get(id(error), [error]))


def _at_the_first(shown_in: list[ScenarioError]) -> ScenarioError:
    """One mistake that shows in several places, told at the first of them."""
    first, *others = sorted(shown_in, key=lambda error: (error.place.line, error.place.column))
    lines = sorted({error.place.line for error in others} - {first.place.line})
    if not lines:
        return first
    *most, last = map(str, lines)
    listed = f"lines {', '.join(most)} and {last}" if most else f"line {last}"
    return ScenarioError(first.place, f"{first.problem} The same in {listed}.")


def known(words: Iterable[str], what: str = "Known") -> str:
    """A sentence that lists what there is: `` Known: a, b.``; nothing if there is nothing."""
    listed = ", ".join(words)
    return f" {what}: {listed}." if listed else ""


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The word that somebody may have meant by an unknown one, if any is near."""
    by_lower = {choice.lower(): choice for choice in words}
    near = difflib.get_close_matches(word[:_SHOWN_CHARACTERS].lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[near[0]] if near else None


def did_you_mean(word: str, words: Iterable[str], what: str = "Known") -> str:
    """What to say after an unknown word: the nearest known one, if any is near, and all of them."""
    choices = list(dict.fromkeys(words))
    near = nearest(word, choices)
    guess = f" Did you mean '{near}'?" if near is not None else ""
    return f".{guess}{known(choices, what)}"
