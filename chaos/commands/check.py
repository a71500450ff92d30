"""``gpuchaos check``."""

from __future__ import annotations

import argparse
import sys

from chaos.commands import Arguments
from chaos.errors import UsageError
from chaos.format.loader import load
from chaos.library import find_scenario


class CheckCommand:
    """Say whether scenarios are well-formed, without playing them."""

    example = "gpuchaos check scenarios/*.yaml"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """One scenario or more."""
        parser.add_argument(
            "scenarios", nargs="+", metavar="SCENARIO", help="a file, or the name of a shipped one"
        )

    def run(self, arguments: Arguments) -> int:
        """Print one line a good scenario on stdout, and one a mistake on stderr."""
        wrong = 0
        for name in arguments.options.scenarios:
            try:
                scenario = load(find_scenario(name))
            except UsageError as error:
                print(error.told(), file=sys.stderr)
                wrong += 1
            else:
                print(f"{scenario.path}: ok")
        return 254 if wrong else 0
