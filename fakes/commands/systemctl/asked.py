"""What a call of systemctl asks for: a verb, units, options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from typing import TextIO

from fakes.node import Node
from fakes.system.services import Service, Services
from fakes.system.units import full_name
from fakes.world import World


class UnknownWordError(Exception):
    """An option that is not known here. One clause."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A call. ``options`` are by their long names; ``properties`` are those of every ``-p``."""

    verb: str
    words: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    properties: tuple[str, ...] = ()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is to be printed."""
        return "quiet" in self.options


Verb = Callable[[Asked, Node, World, TextIO, TextIO], int]

_FLAGS = {
    "a": "all", "l": "full", "q": "quiet", "f": "force", "i": "ignore-inhibitors", "r": "recursive",
    "h": "help",
}  # fmt: skip
_VALUES = {"t": "type", "n": "lines", "o": "output", "s": "signal", "H": "host", "M": "machine"}
_LONG_FLAGS = frozenset(
    {
        *_FLAGS.values(), "no-pager", "no-legend", "plain", "value", "no-block", "no-ask-password",
        "now", "system", "version", "no-reload", "runtime", "failed", "wait", "no-wall", "no-sync",
        "show-types", "dry-run", "no-warn", "user", "global", "reverse", "after", "before",
    }
)  # fmt: skip
_LONG_VALUES = frozenset(
    {*_VALUES.values(), "state", "job-mode", "kill-who", "kill-whom", "legend", "message",
     "preset-mode", "root", "timestamp", "what"}
)  # fmt: skip


def read(argv: Sequence[str]) -> Asked:
    """Read a command line. Raises :class:`UnknownWordError`."""
    options: dict[str, str] = {}
    properties: list[str] = []
    words: list[str] = []
    rest = list(argv)
    while rest:
        word = rest.pop(0)
        if word == "--":
            words += rest
            break
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            if name == "property":
                properties += (value if equals else _next(rest)).split(",")
            elif name in _LONG_VALUES:
                options[name] = value if equals else _next(rest)
            elif name in _LONG_FLAGS:
                options[name] = value
            else:
                raise UnknownWordError(f"{word}: this option is not known here")
        elif word.startswith("-") and len(word) > 1:
            _read_letters(word[1:], rest, options, properties)
        else:
            words.append(word)
    return Asked(words[0] if words else "", tuple(words[1:]), options, tuple(properties))


def _read_letters(
    letters: str, rest: list[str], options: dict[str, str], properties: list[str]
) -> None:
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter == "p":
            properties += (letters or _next(rest)).split(",")
            return
        if letter in _VALUES:
            options[_VALUES[letter]] = letters or _next(rest)
            return
        if letter not in _FLAGS:
            raise UnknownWordError(f"-{letter}: this option is not known here")
        options[_FLAGS[letter]] = ""


def _next(rest: list[str]) -> str:
    return rest.pop(0) if rest else ""


def matching(services: Services, patterns: Iterable[str]) -> list[Service]:
    """The services whose names, or aliases, match one of the patterns; all without any."""
    wanted = [full_name(pattern) if "*" not in pattern else pattern for pattern in patterns]
    return [
        service
        for service in services
        if not wanted
        or any(
            fnmatch(name, pattern)
            for pattern in wanted
            for name in (service.name, *service.unit.aliases)
        )
    ]
