"""``ibstatus``: the state of each InfiniBand port, as /sys has it (infiniband-diags 39)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node


@command("ibstatus", latency_us=20_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """``[DEVICE[:PORT]] ...``; all of them without."""
    if any(word.startswith("-") for word in argv):
        err.write(f"ibstatus: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    adapters = {one.name: one for one in node.network.adapters}
    chosen = [word.partition(":") for word in argv] or [(name, "", "") for name in adapters]
    for name, _, port in chosen:
        adapter = adapters.get(name)
        if adapter is None or port not in ("", "1"):
            what = f"'{name}' port {port}" if adapter else f"'{name}'"
            err.write(f"Fatal error:  device {what}: sys files not found "
                      f"(/sys/class/infiniband/{name}/ports)\n")  # fmt: skip
            return 255
        state, physical = adapter.state.value, adapter.physical.value
        lid = adapter.lid if adapter.is_active else 0xFFFF
        out.write(
            f"Infiniband device '{name}' port 1 status:\n"
            f"\tdefault gid:\t {adapter.gid}\n"
            f"\tbase lid:\t 0x{lid:x}\n"
            f"\tsm lid:\t\t 0x{adapter.subnet_manager_lid:x}\n"
            f"\tstate:\t\t {state[0]}: {state[1]}\n"
            f"\tphys state:\t {physical[0]}: {physical[1]}\n"
            f"\trate:\t\t {adapter.rate_text}\n"
            "\tlink_layer:\t InfiniBand\n\n"
        )
    return 0
