"""``nodeset``: names of nodes folded, spread out, counted (ClusterShell 1.9's nodeset(1)).

Sets are added, taken away (``-x``) and intersected (``-i``); a name after ``@`` is a group's. The
operators within a word, but for the comma, are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.network.groups import NoGroupError, ReadFile, members
from fakes.slurm.hostlist import HostlistError, compress, expand, in_order
from fakes.world import World

_FLAGS = {"f": "fold", "e": "expand", "c": "count"}
_VALUES = {"S": "separator", "x": "exclude", "i": "intersection"}
_OPERATORS = re.compile(r"[*?!&^%]")
_BETWEEN = re.compile(r",(?![^[]*\])")


@command("nodeset", latency_us=100_000)
def main(
    argv: Sequence[str], world: World, stdin: TextIO | None, read_file: ReadFile,
    out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Print the nodes that are given as words, or come in by standard input."""
    try:
        options, words = parse(argv, _FLAGS, _VALUES)
    except UnknownOptionError as error:
        err.write(f"nodeset: {error}\n")
        return NOT_UNDERSTOOD
    wanted = set(options) & {"fold", "expand", "count"}
    if not words or words == ["-"]:
        words = (stdin.read() if stdin else "").split()
    if len(wanted) != 1 or any(_OPERATORS.search(word) for word in words):
        err.write(f"nodeset: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    try:
        names = in_order(name for word in words for name in _spread(word, world, read_file))
        if "exclude" in options:
            gone = set(_spread(options["exclude"], world, read_file))
            names = [name for name in names if name not in gone]
        if "intersection" in options:
            kept = set(_spread(options["intersection"], world, read_file))
            names = [name for name in names if name in kept]
    except NoGroupError as error:
        err.write(f"nodeset: {error} here\n")
        return NOT_UNDERSTOOD
    except HostlistError as error:
        err.write(f"nodeset: Parse error: bad node set: {error}\n")
        return 1
    if "fold" in options:
        out.write(f"{compress(names)}\n")
    elif "expand" in options:
        out.write(options.get("separator", " ").join(names) + "\n")
    else:
        out.write(f"{len(names)}\n")
    return 0


def _spread(text: str, world: World, read_file: ReadFile) -> list[str]:
    """The names in a list whose parts may be groups."""
    found: list[str] = []
    for part in filter(None, _BETWEEN.split(text)):
        found += members(part[1:], world, read_file) if part.startswith("@") else expand(part)
    return found
