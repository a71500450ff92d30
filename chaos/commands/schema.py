"""``gpuchaos schema``."""

from __future__ import annotations

import argparse
import json

from chaos.commands import Arguments
from chaos.format.schema import schema


class SchemaCommand:
    """Print the JSON Schema of scenario files, for editors.

    In a scenario's first line '# yaml-language-server: $schema=scenario.schema.json' names it.
    """

    example = "gpuchaos schema > scenario.schema.json"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """No options."""

    def run(self, arguments: Arguments) -> int:
        """Print it."""
        del arguments
        print(json.dumps(schema(), indent=1))
        return 0
