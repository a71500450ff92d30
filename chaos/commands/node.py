"""``gpuchaos node``."""

from __future__ import annotations

import argparse
import math

from chaos.commands import Arguments
from chaos.commands.enter import add_writable_option
from chaos.errors import UsageError, did_you_mean, quoted
from chaos.fleet import MAX_GPUS, Fleet, Given, training
from chaos.real_time.stage import Options, play
from fakes.profile import models


class NodeCommand:
    """Run a program on a healthy fake node, in real time.

    The program (gputui, if none is given) sees the node's GPUs through NVML, its processes, and its
    kernel log in /var/log/kern.log. In another terminal, 'gpuchaos inject' breaks things meanwhile.
    The exit status is the program's.
    """

    example = "gpuchaos node h100-sxm --gpus 8 -- nvtop"
    takes_program = True

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """The model, and how much of it."""
        parser.add_argument("model", metavar="MODEL", help="a model: see gpuchaos models")
        parser.add_argument("--gpus", type=int, default=8, metavar="N", help="how many (8)")
        parser.add_argument("--idle", action="store_true", help="no job on the GPUs")
        add_live_options(parser)

    def run(self, arguments: Arguments) -> int:
        """Play a run in which nothing is scheduled."""
        options = arguments.options
        if options.model not in models():
            hint = did_you_mean(options.model, models(), "Known models")
            raise UsageError(f"unknown model {quoted(options.model)}{hint}")
        if not 1 <= options.gpus <= MAX_GPUS:
            raise UsageError(f"--gpus: a node has 1 to {MAX_GPUS} GPUs, not {options.gpus}.")
        fleet = Fleet(gpus=options.gpus, model=options.model)
        given = Given(fleet, () if options.idle else (training(fleet),))
        return play(given, arguments.program, live_options(options))


def add_live_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command that plays a run in real time."""
    parser.add_argument(
        "--name", default="default", help="what inject, enter and status call it (default)"
    )
    parser.add_argument(
        "--no-sandbox",
        action="store_true",
        help="by environment variables alone, without namespaces: for debuggers",
    )
    parser.add_argument(
        "--rate", type=float, default=1.0, metavar="R", help="so many times as fast (1)"
    )
    add_writable_option(parser)


def live_options(options: argparse.Namespace, on: str = "n0") -> Options:
    """What those options say."""
    if not (math.isfinite(options.rate) and 0.01 <= options.rate <= 1000):
        raise UsageError(f"--rate: a number from 0.01 to 1000, not {options.rate}.")
    return Options(options.name, options.rate, not options.no_sandbox, on, tuple(options.writable))
