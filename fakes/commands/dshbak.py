"""``dshbak``: what pdsh has printed, a block for each node (pdsh 2.34's dshbak(1))."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.gathered import alike, blocks, by_node
from fakes.commands.registry import NOT_UNDERSTOOD, command

_RULE = "-" * 16


@command("dshbak", latency_us=20_000)
def main(argv: Sequence[str], stdin: TextIO | None, out: TextIO, err: TextIO) -> int:
    """Print the blocks; with ``-c`` one for all nodes that have said the same."""
    if strange := [word for word in argv if word != "-c"]:
        err.write(f"dshbak: {strange[0]}: this is not known here\n")
        return NOT_UNDERSTOOD
    said = by_node(stdin or ())
    groups = alike(said) if argv else [([name], text) for name, text in said.items()]
    out.writelines(blocks(groups, rule=_RULE))
    return 0
