"""Whether one node reaches another by its name, and what a program says where it does not."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.clock import SECOND_US
from fakes.nccl.job import leaving_by, outcome_of_reaching
from fakes.network.hosts import HOSTS, is_loopback, resolve
from fakes.node import Node
from fakes.world import World

NO_NAME = "Name or service not known"

_ARP_US = 3 * SECOND_US
"""How long the kernel asks for a neighbour that does not answer (three times a second)."""

_SYN_US = 130 * SECOND_US
"""How long it tries to connect where nothing comes back (tcp_syn_retries is 6)."""

_MOST_LOOKED_AT = 4096


@dataclass(frozen=True, slots=True)
class Unreached:
    """Why a node is not reached, in the kernel's words or the resolver's, and after how long."""

    why: str
    after_us: int = 0


def reach(world: World, here: Node, name: str, *, limit_us: int | None = None) -> Node | Unreached:
    """The node of a name, as ``here`` sees it; ``limit_us`` is how long the caller would wait."""
    if name == here.name:
        return here
    addresses = resolve(here.files.read(HOSTS) or "", name)
    if not addresses:
        return Unreached(NO_NAME)
    address = addresses[0]
    if is_loopback(address) or address in tuple(here.network.addresses):
        return here
    there = _owner(world, name, address)
    why = (
        "No route to host"
        if there is None
        else outcome_of_reaching(here, leaving_by(here, address), there, address)
    )
    if there is not None and why is None:
        return there
    assert why is not None
    after_us = {"No route to host": _ARP_US, "Connection timed out": _SYN_US}.get(why, 0)
    if limit_us is not None and limit_us < after_us:
        return Unreached("Connection timed out", limit_us)
    return Unreached(why, after_us)


def _owner(world: World, name: str, address: str) -> Node | None:
    """The node that has an address: mostly the one of that name."""
    named = world.nodes.get(name)
    if named is not None and named.network.owner_of(address) is not None:
        return named
    for node, _ in zip(world.nodes.values(), range(_MOST_LOOKED_AT), strict=False):
        if node.network.owner_of(address) is not None:
            return node
    return None
