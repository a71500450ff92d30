"""``gpuchaos console``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from chaos.commands import Arguments
from chaos.commands.enter import find_run
from chaos.console.link import Link, OwnRun
from chaos.errors import UsageError
from chaos.format.loader import load
from chaos.library import find_scenario
from chaos.real_time.control import ask
from chaos.virtual.drill import check_testable


class ConsoleCommand:
    """The facilitator's screen of a game day: timeline, deadlines, what people do; inject and heal.

    With a scenario it begins a game, which waits until you let it go on, and ends with this
    console. Players enter by 'gpuchaos enter --node NAME'. Without one it looks at a game that runs
    already ('gpuchaos run SCENARIO --journal FILE'). The score is printed at the end.
    """

    example = "gpuchaos console thermal-throttling --rate 10"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """The scenario, its pace, and where the journal goes."""
        parser.add_argument(
            "scenario", nargs="?", metavar="SCENARIO", help="a file, or the name of a shipped one"
        )
        parser.add_argument(
            "--name", "--node", metavar="NAME", help="what the run is called (game)"
        )
        parser.add_argument(
            "--rate", type=float, default=1.0, metavar="R", help="so many times as fast (1)"
        )
        parser.add_argument(
            "--journal", type=Path, metavar="FILE", help="where it is noted (SCENARIO.jsonl)"
        )

    def run(self, arguments: Arguments) -> int:
        """Begin a game, or find one, and show it."""
        options = arguments.options
        if not (os.isatty(0) and os.isatty(1)):
            raise UsageError("the console needs a terminal: use 'gpuchaos run' in scripts.")
        if options.scenario is None:
            run = find_run(options.name)
            if not ask(run, {"do": "status"})["game"]:
                raise UsageError(
                    f"nobody keeps the score of '{run.name}': begin a game with 'gpuchaos run "
                    "SCENARIO --journal FILE', or with 'gpuchaos console SCENARIO'."
                )
            _show(Link(run), ends_with_us=False)
            return 0
        scenario = load(find_scenario(options.scenario))
        check_testable(scenario)
        name = options.name or "game"
        journal = options.journal or Path(f"{scenario.name}.jsonl")
        began = OwnRun(
            [
                *(sys.executable, "-m", "chaos", "run", str(scenario.path), "--paused"),
                *("--name", name, "--rate", str(options.rate), "--journal", str(journal)),
            ],
            name,
        )
        said = ""
        try:
            _show(Link(began.directory()), ends_with_us=True)
        finally:
            said = began.close()
        print(said)
        print(f"journal: {journal}   (gpuchaos report {journal})")
        return 0


def _show(link: Link, *, ends_with_us: bool) -> None:
    from chaos.console.app import ConsoleApp  # Textual takes its time to be imported

    ConsoleApp(link, ends_with_us=ends_with_us).run()
