"""``nodeset``: names of nodes folded, spread out, counted (ClusterShell 1.9's nodeset(1)).

Groups and the operators between sets are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.slurm.hostlist import HostlistError, compress, expand, in_order

_FLAGS = {"f": "fold", "e": "expand", "c": "count"}
_VALUES = {"S": "separator"}
_OPERATORS = re.compile(r"[@*?!&^%]")


@command("nodeset", latency_us=100_000)
def main(argv: Sequence[str], stdin: TextIO | None, out: TextIO, err: TextIO) -> int:
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
        names = in_order(name for word in words for name in expand(word.strip(",")))
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
