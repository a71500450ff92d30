"""What Slurm's commands have in common: how they are told what to do, and how they refuse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from fakes.slurm.states import CONTROLLER, VERSION
from fakes.world import World

NO_CONTROLLER = "Unable to contact slurm controller (connect failure)"


class UsageError(Exception):
    """What the real command says of a call that it cannot read; it then points to --help."""


class UnknownHereError(Exception):
    """An option that the real command has, and the look-alike has not. One clause."""


class AnsweredError(Exception):
    """A call that is over before anything is asked of the controller; ``status`` is its exit's."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def answers(world: World) -> bool:
    """Whether a slurmctld runs: not where Kubernetes places the jobs."""
    return world.cluster.scheduler != "kubernetes"


def print_version(out: TextIO) -> int:
    """What ``--version`` prints."""
    out.write(f"slurm {VERSION}\n")
    return 0


def ping_line() -> str:
    """What ``scontrol ping`` prints."""
    return f"Slurmctld(primary) at {CONTROLLER} is UP\n"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a command.

    ``flags`` and ``values`` map letters to long names, of options without and with a value;
    ``long_flags``, ``long_values`` and ``long_optional`` have no letter; a value of the last is
    given with ``=`` only. ``ignored`` are those of all these that change nothing here.
    """

    flags: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    long_flags: Sequence[str] = ()
    long_values: Sequence[str] = ()
    long_optional: Sequence[str] = ()

    def parse(
        self, argv: Sequence[str], *, stops: bool = False
    ) -> tuple[dict[str, str], list[str]]:
        """What was given, by long names, and the words that are no options.

        Where ``stops``, the first such word ends the options, as it does where a command follows.
        Long names may be cut short while they are meant by no other. Raises :class:`UsageError`.
        """
        options: dict[str, str] = {}
        words: list[str] = []
        rest = list(argv)
        while rest:
            word = rest.pop(0)
            if word == "--":
                words += rest
                break
            if word.startswith("--"):
                self._long(word, rest, options)
            elif word.startswith("-") and word != "-":
                self._short(word[1:], rest, options)
            else:
                words.append(word)
                if stops:
                    words += rest
                    break
        return options, words

    def _long(self, word: str, rest: list[str], options: dict[str, str]) -> None:
        given, equals, value = word[2:].partition("=")
        valued = (*self.values.values(), *self.long_values)
        known = (*valued, *self.flags.values(), *self.long_flags, *self.long_optional)
        matching = dict.fromkeys(name for name in known if name.startswith(given))
        name = given if given in known else next(iter(matching), "")
        if not name or (len(matching) > 1 and given not in known):
            kind = "ambiguous" if matching else "unrecognized"
            raise UsageError(f"{kind} option '--{given}'")
        if name in valued and not equals:
            if not rest:
                raise UsageError(f"option '--{name}' requires an argument")
            value = rest.pop(0)
        options[name] = value

    def _short(self, letters: str, rest: list[str], options: dict[str, str]) -> None:
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in self.values:
                if not letters and not rest:
                    raise UsageError(f"option requires an argument -- '{letter}'")
                options[self.values[letter]] = letters or rest.pop(0)
                return
            if letter not in self.flags:
                raise UsageError(f"invalid option -- '{letter}'")
            options[self.flags[letter]] = ""


def asked(
    program: str,
    options: Options,
    argv: Sequence[str],
    world: World,
    out: TextIO,
    err: TextIO,
    *,
    fails: str,
) -> tuple[dict[str, str], list[str]]:
    """The options and words of a call that asks the controller.

    What needs no controller, or gets no answer from it, is an :class:`AnsweredError`, and has been
    said: a call that cannot be read, the version, and, behind ``fails``, that there is none.
    """
    try:
        given, words = options.parse(argv)
    except UsageError as error:
        raise AnsweredError(usage(program, error, err)) from error
    if "version" in given:
        raise AnsweredError(print_version(out))
    if not answers(world):
        err.write(f"{fails}: {NO_CONTROLLER}\n")
        raise AnsweredError(1)
    return given, words


def usage(program: str, error: UsageError, err: TextIO, status: int = 1) -> int:
    """Say what a call that cannot be read is told, and with which status it ends."""
    err.write(f'{program}: {error}\nTry "{program} --help" for more information\n')
    return status
