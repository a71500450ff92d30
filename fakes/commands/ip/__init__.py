"""``ip`` of iproute2: interfaces, their addresses, routes and neighbours, as text and as JSON.

Forms are those of iproute2 6.1. Words may be abbreviated as there: ``ip a``, ``ip -br l``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.ip import address, link, neighbour, route
from fakes.commands.ip.invocation import Invocation, NotKnownError, RefusedError
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.world import World

_OBJECTS = {
    "link": link.run,
    "address": address.run,
    "route": route.run,
    "neighbour": neighbour.run,
    "neighbor": neighbour.run,
}


@command("ip", latency_us=3_000)
def main(argv: Sequence[str], node: Node, world: World, out: TextIO, err: TextIO) -> int:
    """Show or change it; 1 where the kernel has no such interface, 2 where it refuses."""
    try:
        call = Invocation.parse(argv, node, world, out)
        if call.version:
            out.write("ip utility, iproute2-6.1.0, libbpf 1.1.2\n")
            return 0
        name = call.words[0] if call.words else ""
        chosen = next((known for known in _OBJECTS if name and known.startswith(name)), None)
        if chosen is None:
            raise NotKnownError(f"{name or 'no object'}: this object is not known here")
        return _OBJECTS[chosen](call, call.words[1:])
    except RefusedError as refused:
        err.write(f"{refused}\n")
        return refused.status
    except NotKnownError as unknown:
        err.write(f"ip: {unknown}\n")
        return NOT_UNDERSTOOD
