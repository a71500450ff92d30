"""``ibdev2netdev``: which network interface stands on which RDMA port (a script of MLNX_OFED)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node


@command("ibdev2netdev", latency_us=40_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """One line a port; ``-v`` tells of the adapter as well."""
    if set(argv) - {"-v"}:
        err.write(f"ibdev2netdev: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    for one in node.network.adapters:
        interface = node.network.interface(one.interface)
        state = "Up" if interface is not None and interface.works else "Down"
        if argv:
            generation = one.generation
            out.write(
                f"{one.pci_address} {one.name} ({generation.hca_type} - {one.serial}) "
                f"{generation.model} fw {generation.firmware} port 1 ({one.state.value[1]}) "
                f"==> {one.interface} ({state})\n"
            )
        else:
            out.write(f"{one.name} port 1 ==> {one.interface} ({state})\n")
    return 0
