"""The subcommands of ``gpuchaos``: one file each, with one class, found by being here.

A command's documentation is its help; it has an ``example``, and two methods. Its name is that of
its module::

    class ModelsCommand:
        '''List the models of GPU that a fake node can have.'''

        example = "gpuchaos models"
        takes_program = False

        def prepare(self, parser): ...
        def run(self, arguments) -> int: ...
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Arguments:
    """A parsed command line: its options, and the words after ``--``."""

    options: argparse.Namespace
    program: tuple[str, ...] = ()


class Command(Protocol):
    """A subcommand. ``takes_program`` says whether ``-- CMD`` may follow."""

    example: str
    takes_program: bool

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Add its options."""
        ...

    def run(self, arguments: Arguments) -> int:
        """Do it; the exit status."""
        ...


def command_names() -> tuple[str, ...]:
    """The name of every command: that of its module."""
    return tuple(module.name for module in pkgutil.iter_modules(__path__))


def load_command(name: str) -> Command:
    """The command of a name; only its own module is imported."""
    module = importlib.import_module(f"{__name__}.{name}")
    command: Command = next(
        value()
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__ and "run" in vars(value)
    )
    return command
