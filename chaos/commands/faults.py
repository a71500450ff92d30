"""``gpuchaos faults``."""

from __future__ import annotations

import argparse
from enum import Enum

from chaos.commands import Arguments
from chaos.errors import UsageError, did_you_mean, quoted
from chaos.fault import Argument, FaultType, families
from chaos.format.values import expected, plain_type, shown


class FaultsCommand:
    """List the faults, their arguments with types and units, and what each does not prove."""

    example = "gpuchaos faults thermal"
    takes_program = False

    def prepare(self, parser: argparse.ArgumentParser) -> None:
        """Perhaps one family."""
        parser.add_argument("family", nargs="?", metavar="FAULT", help="show only this one")

    def run(self, arguments: Arguments) -> int:
        """Print a paragraph a fault."""
        wanted = arguments.options.family
        if wanted is not None and wanted not in families():
            hint = did_you_mean(wanted, families(), "Known faults")
            raise UsageError(f"unknown fault {quoted(wanted)}{hint}")
        kinds = [kind for family in families().values() for kind in family]
        print("\n\n".join(_paragraph(k) for k in kinds if wanted in (None, k.family)))
        return 0


def _paragraph(kind: FaultType) -> str:
    lines = [f"{kind.family}{f' {kind.by}=' if kind.by else ''}", f"    {kind.summary}"]
    lines += [f"    {argument.name:<9} {_words(argument)}" for argument in kind.arguments]
    lines.append(f"    It does not prove {kind.cls.does_not_prove}.")
    return "\n".join(lines)


def _words(argument: Argument) -> str:
    wanted = expected(argument.type)
    if argument.required:
        return f"{wanted}; required"
    if argument.default is None:
        return f"{wanted}; may be left out"
    if isinstance(argument.default, Enum) or plain_type(argument.type) is bool:
        return f"{wanted}; usually {shown(argument.default)}"
    return f"{wanted}; {shown(argument.default)} if left out"
