"""``gpuchaos enter``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from chaos.commands import Arguments
from chaos.errors import UsageError, did_you_mean, quoted
from chaos.real_time import registry
from chaos.real_time.control import ask
from chaos.real_time.foreground import entering, is_gputui
from chaos.sandbox.plan import Entrance
from chaos.sandbox.view import RUN_VARIABLE, carried, environment

_NO_LIBRARY = (
    "this node has no NVML that a second gputui could read: no C compiler was found when it was "
    "started. Install gcc or clang and start the node anew; or run gputui as the node's own "
    "program, which is fed its readings."
)


class EnterCommand:
    """Run another program on a running fake node: your shell, if none is given.

    It keeps this terminal, the current directory and the environment. The exit status is the
    program's.
    """

    example = "gpuchaos enter -- nvitop"
    takes_program = True

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Which fake, and which of its nodes."""
        add_run_option(parser)
        parser.add_argument("--on", default="n0", metavar="NODE", help="which of its nodes (n0)")
        add_writable_option(parser)

    def run(self, arguments: Arguments) -> int:
        """Become the program."""
        run = find_run(arguments.options.node)
        status = ask(run, {"do": "status"})
        homes: dict[str, dict[str, Any]] = status["homes"]
        node = arguments.options.on
        if node not in homes:
            raise UsageError(f"there is no node {quoted(node)}{did_you_mean(node, homes, 'Nodes')}")
        home = homes[node]
        words = arguments.program or (os.environ.get("SHELL") or "/bin/sh",)
        if not status["library"] and is_gputui(words):
            raise UsageError(_NO_LIBRARY)
        directory = Path(home["directory"])
        contained = bool(home["init_pid"])
        own = environment(
            os.environ, run.name, directory, library=status["library"], contained=contained
        )
        entrance = Entrance.from_json(home["entrance"])
        if home["pid_namespace"] == Path("/proc/self/ns/pid").stat().st_ino:
            entrance = Entrance()  # we are on that node, and stay where we are
        elif contained:
            writable = arguments.options.writable
            binds = carried(directory, words, os.environ, home["empty"], writable)
            entrance = entrance._replace(binds=binds)
        command = entering(entrance, words)
        os.execve(command[0], command, own)
        raise AssertionError("execve returned")


def add_run_option(parser: argparse.ArgumentParser) -> None:
    """The option that chooses a running fake."""
    parser.add_argument(
        "--node", metavar="NAME", help="the fake's --name; may be left out if only one is running"
    )


def add_writable_option(parser: argparse.ArgumentParser) -> None:
    """The option that lets a program write to a directory of the machine."""
    parser.add_argument(
        "--writable",
        action="append",
        type=Path,
        default=[],
        metavar="DIR",
        help="let the program write to a directory of this machine, such as .",
    )


def find_run(name: str | None) -> Path:
    """The directory of a running fake: by name, that which we are inside of, or the only one."""
    return registry.find(name or os.environ.get(RUN_VARIABLE) or None)
