"""``gpuchaos heal``."""

from __future__ import annotations

import argparse

from chaos.commands import Arguments
from chaos.commands.enter import add_run_option, find_run
from chaos.real_time.control import ask


class HealCommand:
    """Take back a fault of a running fake node, or all of them.

    A process that a fault has ended stays ended, and a GPU that switched itself off for heat stays
    off.
    """

    example = "gpuchaos heal xid-1"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Which fault."""
        parser.add_argument("id", metavar="ID", help="what inject printed, or 'all'")
        add_run_option(parser)

    def run(self, arguments: Arguments) -> int:
        """Ask the run; print what was healed."""
        options = arguments.options
        for healed in ask(find_run(options.node), {"do": "heal", "id": options.id})["healed"]:
            print(healed)
        return 0
