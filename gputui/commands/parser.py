"""The options of a command: examples first in its help, and each mistake in one line."""

from __future__ import annotations

import argparse
from typing import NoReturn

from gputui.exit_codes import BAD_USAGE
from gputui.streams import complain


class CommandParser(argparse.ArgumentParser):
    """A parser for ``gputui NAME``."""

    def __init__(self, name: str, examples: str, exit_codes: str) -> None:
        super().__init__(
            prog=f"gputui {name}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self._examples = examples
        self._exit_codes = exit_codes

    def format_help(self) -> str:
        """The examples, then the options, then what the exit status means."""
        return f"{self._examples}\n{super().format_help()}\n{self._exit_codes}"

    def error(self, message: str) -> NoReturn:
        """Say it in one line, and exit as bad usage does."""
        complain(f"{message} ({self.prog} -h shows what there is)")
        raise SystemExit(BAD_USAGE)
