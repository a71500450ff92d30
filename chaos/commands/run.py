"""``gpuchaos run``."""

from __future__ import annotations

import argparse

from chaos.commands import Arguments
from chaos.commands.node import add_live_options, live_options
from chaos.library import find_scenario
from chaos.loader import load
from chaos.stage import play


class RunCommand:
    """Run a program on a fake node while a scenario plays, in real time.

    The program is gputui if none is given. The scenario's expectations are not judged. The exit
    status is the program's.
    """

    example = "gpuchaos run demo"
    takes_program = True

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """The scenario, and where to look from."""
        parser.add_argument(
            "scenario", metavar="SCENARIO", help="a file, or the name of a shipped one"
        )
        parser.add_argument("--on", default="n0", metavar="NODE", help="the program's node (n0)")
        add_live_options(parser)

    def run(self, arguments: Arguments) -> int:
        """Load the scenario and play it."""
        options = arguments.options
        live = live_options(options, options.on)
        scenario = load(find_scenario(options.scenario))
        return play(
            scenario.given,
            arguments.program,
            live,
            timeline=scenario.timeline,
            seed=scenario.seed,
        )
