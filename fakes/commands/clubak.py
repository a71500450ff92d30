"""``clubak``: what clush has printed, a block for each node (ClusterShell 1.9's clubak(1))."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.gathered import alike, blocks, by_node
from fakes.commands.registry import NOT_UNDERSTOOD, command

_RULE = "-" * 15
_GATHERS = frozenset({"-b", "-c", "--dshbak"})


@command("clubak", latency_us=20_000)
def main(argv: Sequence[str], stdin: TextIO | None, out: TextIO, err: TextIO) -> int:
    """Print the blocks; with ``-b`` one for all nodes that have said the same, most nodes first."""
    if strange := [word for word in argv if word not in _GATHERS]:
        err.write(f"clubak: {strange[0]}: this is not known here\n")
        return NOT_UNDERSTOOD
    said = by_node(stdin or ())
    groups = [([name], text) for name, text in said.items()]
    if argv:
        groups = sorted(alike(said), key=lambda group: -len(group[0]))
    out.writelines(blocks(groups, rule=_RULE, counts=True))
    return 0
