"""``gpuchaos list``."""

from __future__ import annotations

import argparse
import textwrap

from chaos import library
from chaos.commands import Arguments
from chaos.format.loader import load


class ListCommand:
    """List the scenarios that come along."""

    example = "gpuchaos list"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """No options."""

    def run(self, arguments: Arguments) -> int:
        """Print a name and a sentence for each."""
        del arguments
        for name, path in library.shipped().items():
            family = path.parent.name if path.parent != library.folder() else ""
            print(f"{name}  ({family})" if family else name)
            print(textwrap.indent(textwrap.fill(load(path).why, 92), "    "))
        return 0
