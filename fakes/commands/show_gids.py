"""``show_gids``: the GIDs of every RDMA port (a script of MLNX_OFED)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node

_HEADING = (
    "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n"
    "---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\n"
)


@command("show_gids", latency_us=200_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """One line a GID, of all adapters or of one; InfiniBand ports have no IPv4 among theirs."""
    if len(argv) > 1 or any(word.startswith("-") for word in argv):
        err.write(f"show_gids: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    shown = [one for one in node.network.adapters if not argv or one.name == argv[0]]
    out.write(_HEADING)
    out.writelines(f"{one.name}\t1\t0\t{one.gid}\t\t\tv1\t{one.interface}\n" for one in shown)
    out.write(f"n_gids_found={len(shown)}\n")
    return 0
