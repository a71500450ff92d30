"""``gpuchaos run``."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from chaos.commands import Arguments
from chaos.commands.node import add_live_options, live_options
from chaos.errors import UsageError
from chaos.format.loader import load
from chaos.journal import Journal
from chaos.library import find_scenario
from chaos.real_time.game import Game
from chaos.real_time.stage import Options, play
from chaos.reports import Reported
from chaos.reports.text import lines
from chaos.scenario import Scenario
from chaos.virtual.drill import check_testable
from fakes.world import World


class RunCommand:
    """Run a program on a fake node while a scenario plays, in real time.

    The program is gputui if none is given. With --journal it is a game: what happens is noted, the
    expectations are judged, and at the end verdict and score are printed. The exit status is the
    program's.
    """

    example = "gpuchaos run demo"
    takes_program = True

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """The scenario, and where to look from."""
        parser.add_argument(
            "scenario", metavar="SCENARIO", help="a file, or the name of a shipped one"
        )
        parser.add_argument("--on", default="n0", metavar="NODE", help="the program's node (n0)")
        parser.add_argument(
            "--journal", type=Path, metavar="FILE", help="note what happens, judge, keep the score"
        )
        parser.add_argument(
            "--paused", action="store_true", help="wait for gpuchaos console to begin"
        )
        add_live_options(parser)

    def run(self, arguments: Arguments) -> int:
        """Load the scenario and play it."""
        options = arguments.options
        live = replace(live_options(options, options.on), paused=options.paused)
        scenario = load(find_scenario(options.scenario))
        if options.journal:
            return _play_game(scenario, arguments.program, live, options.journal)
        return play(
            scenario.given,
            arguments.program,
            live,
            timeline=scenario.timeline,
            seed=scenario.seed,
        )


def _play_game(scenario: Scenario, program: tuple[str, ...], live: Options, path: Path) -> int:
    """Play it with a journal; tell how it came out."""
    check_testable(scenario)
    began_s = time.monotonic()
    games: list[Game] = []

    def begin(world: World, rate: float) -> Game:
        games.append(Game(scenario, world, journal, rate))
        return games[0]

    try:
        out = path.open("w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}.") from error
    with out:
        journal = Journal(out, in_order=True)
        status = play(scenario.given, program, live, seed=scenario.seed, game_of=begin)
    for game in games:
        if game.result is not None:
            real_s = time.monotonic() - began_s
            records = tuple(journal.records)
            told = Reported(game.result, scenario.path, scenario.why, records, real_s, live=True)
            for line in (*lines(told, verbose=True), *game.score.lines()):
                print(line, file=sys.stderr)
    return status
