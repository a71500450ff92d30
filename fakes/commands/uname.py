"""``uname``: the node's name and its kernel (coreutils 8.32, Ubuntu 22.04)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.kernel import BUILD, RELEASE

_FLAGS = {
    "a": "all", "s": "kernel-name", "n": "nodename", "r": "kernel-release", "v": "kernel-version",
    "m": "machine", "p": "processor", "i": "hardware-platform", "o": "operating-system",
}  # fmt: skip


@command("uname", latency_us=1_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """Print what was asked for, in the order in which ``-a`` has it."""
    try:
        options, words = parse(argv, _FLAGS, {})
    except UnknownOptionError as unknown:
        err.write(f"uname: {unknown}\n")
        return NOT_UNDERSTOOD
    if words:
        err.write(f"uname: extra operand '{words[0]}'\nTry 'uname --help' for more information.\n")
        return 1
    told = {
        "kernel-name": "Linux", "nodename": node.name, "kernel-release": RELEASE,
        "kernel-version": BUILD, "machine": "x86_64", "processor": "x86_64",
        "hardware-platform": "x86_64", "operating-system": "GNU/Linux",
    }  # fmt: skip
    wanted = set(told) if "all" in options else set(options) or {"kernel-name"}
    out.write(" ".join(text for name, text in told.items() if name in wanted) + "\n")
    return 0
