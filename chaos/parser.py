"""The words of a command line, read as a subcommand's options.

argparse, with an example first in its help, and with errors that say what was found, what is
expected and what was perhaps meant.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import NoReturn

from chaos.commands import Command
from chaos.errors import UsageError, did_you_mean, quoted, shortened

_OPTION = re.compile(r"-[^0-9.]")
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,20}(\.[0-9]{1,20})?")


def whole_number(text: str) -> int:
    """An option's value as a whole number. Unlike ``int`` it takes ASCII digits alone."""
    if not _WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a whole number, such as 8")
    return int(text)


def number(text: str) -> float:
    """An option's value as a number in decimal digits."""
    if not _NUMBER.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a number, such as 2.5")
    return float(text)


class Parser(argparse.ArgumentParser):
    """A parser whose help shows an example first, and whose errors are ours."""

    def __init__(self, name: str, command: Command) -> None:
        super().__init__(
            prog=f"gpuchaos {name}",
            description=(type(command).__doc__ or "").replace("\n    ", "\n").strip(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.register("type", int, whole_number)
        self.register("type", float, number)
        self._example = command.example
        self._takes_program = command.takes_program
        command.prepare(self)

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """The options in ``words``, which end before any ``--``."""
        for word in words:
            name = word.partition("=")[0]
            if _OPTION.match(word) and name not in self._option_string_actions:
                self._refuse(name, "option")
        options, rest = self.parse_known_intermixed_args(list(words))
        if rest:
            self._refuse(rest[0], "word")
        return options

    def _refuse(self, word: str, kind: str) -> NoReturn:
        """Say what is wrong with a word that has no place here."""
        hint = "."
        if kind == "option":
            hint = did_you_mean(word, self._option_string_actions, "Known options")
        if self._takes_program:
            hint += f" A program and its options come after '--', as in: {self._example}."
        raise UsageError(f"unexpected {kind} {quoted(word)}{hint} See {self.prog} -h.")

    def format_help(self) -> str:
        """The example, then the usage."""
        usage, _, rest = super().format_help().partition("\n\n")
        tail = " [-- CMD]" if self._takes_program else ""
        return f"{self._example}\n\n{usage}{tail}\n\n{rest}"

    def error(self, message: str) -> NoReturn:
        """Report a mistake as every other."""
        said = shortened(message.removeprefix("argument "), 200)
        raise UsageError(f"{said}. See {self.prog} -h.")
