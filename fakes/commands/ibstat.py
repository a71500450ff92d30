"""``ibstat``: InfiniBand adapters and their ports (infiniband-diags 39)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.network.infiniband import Adapter, PortState
from fakes.node import Node

_FLAGS = {"l": "list_of_cas", "s": "short", "p": "port_list"}
_STATES = {
    PortState.DOWN: "Down",
    PortState.INIT: "Initializing",
    PortState.ARMED: "Armed",
    PortState.ACTIVE: "Active",
}
_NO_LID = 65_535
_IDLE_GBPS = 10
_PORT = "1"


@command("ibstat", latency_us=30_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """``[-l | -p | -s] [CA [PORT]]``; 255 where there is no such adapter."""
    try:
        options, words = parse(argv, _FLAGS, {})
    except UnknownOptionError as unknown:
        err.write(f"ibstat: {unknown}\n")
        return NOT_UNDERSTOOD
    adapters = node.network.adapters
    if "list_of_cas" in options:
        out.writelines(f"{one.name}\n" for one in adapters)
        return 0
    if words:
        adapters = tuple(one for one in adapters if one.name == words[0])
        if not adapters:
            what = f"stat of IB device '{words[0]}' failed"
            err.write(f"ibpanic: [1] main: {what}: No such file or directory\n")
            return 255
    if "port_list" in options:
        out.writelines(f"0x{one.guid}\n" for one in adapters)
    elif len(words) > 1:
        if words[1] != _PORT:
            err.write(f"ibpanic: [1] ca_stat: {words[0]}: no port {words[1]}\n")
            return 255
        out.write(f"CA: '{adapters[0].name}'\n")
        out.writelines(f"{line}\n" for line in _port(adapters[0], ""))
    else:
        for one in adapters:
            out.writelines(f"{line}\n" for line in _adapter(one, short="short" in options))
    return 0


def _adapter(adapter: Adapter, *, short: bool) -> Iterator[str]:
    yield f"CA '{adapter.name}'"
    yield f"\tCA type: {adapter.generation.hca_type}"
    yield "\tNumber of ports: 1"
    yield f"\tFirmware version: {adapter.generation.firmware}"
    yield "\tHardware version: 0"
    yield f"\tNode GUID: 0x{adapter.guid}"
    yield f"\tSystem image GUID: 0x{adapter.guid}"
    if not short:
        yield from _port(adapter, "\t")


def _port(adapter: Adapter, margin: str) -> Iterator[str]:
    inner = margin and f"{margin}\t"
    up = adapter.is_active
    yield f"{margin}Port {_PORT}:"
    yield f"{inner}State: {_STATES[adapter.state]}"
    yield f"{inner}Physical state: {adapter.physical.value[1]}"
    yield f"{inner}Rate: {adapter.rate_gbps if up else _IDLE_GBPS}"
    yield f"{inner}Base lid: {adapter.lid if up else _NO_LID}"
    yield f"{inner}LMC: 0"
    yield f"{inner}SM lid: {adapter.subnet_manager_lid}"
    yield f"{inner}Capability mask: 0xa651e848"
    yield f"{inner}Port GUID: 0x{adapter.guid}"
    yield f"{inner}Link layer: InfiniBand"
