"""``gpuchaos enter``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from chaos import registry
from chaos.commands import Arguments
from chaos.control import ask
from chaos.errors import UsageError, did_you_mean
from chaos.foreground import entering
from chaos.sandbox.view import RUN_VARIABLE, environment


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

    def run(self, arguments: Arguments) -> int:
        """Become the program."""
        run = find_run(arguments.options.node)
        status = ask(run, {"do": "status"})
        homes: dict[str, dict[str, Any]] = status["homes"]
        node = arguments.options.on
        if node not in homes:
            raise UsageError(f"there is no node '{node}'{did_you_mean(node, homes, 'Nodes')}")
        home = homes[node]
        words = arguments.program or (os.environ.get("SHELL") or "/bin/sh",)
        own = environment(
            os.environ,
            run.name,
            Path(home["directory"]),
            library=status["library"],
            contained=bool(home["init_pid"]),
        )
        here = Path("/proc/self/ns/pid").stat().st_ino
        inside = home["pid_namespace"] == here
        command = entering(0 if inside else home["init_pid"], words)
        os.execve(command[0], command, own)
        raise AssertionError("execve returned")


def add_run_option(parser: argparse.ArgumentParser) -> None:
    """The option that chooses a running fake."""
    parser.add_argument(
        "--node", metavar="NAME", help="the fake's --name; may be left out if only one is running"
    )


def find_run(name: str | None) -> Path:
    """The directory of a running fake: by name, that which we are inside of, or the only one."""
    return registry.find(name or os.environ.get(RUN_VARIABLE) or None)
