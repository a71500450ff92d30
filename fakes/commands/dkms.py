"""``dkms``: kernel modules that are built on the node (dkms 2.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.kernel import RELEASE


@command("dkms", latency_us=100_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """``status``: the driver's modules are installed for the kernel that runs."""
    if list(argv) != ["status"]:
        err.write(f"dkms: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    if node.gpus:
        out.write(f"nvidia, {node.driver.version}, {RELEASE}, x86_64: installed\n")
    return 0
