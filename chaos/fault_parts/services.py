"""What the faults of services have in common: which service it is, on which nodes."""

from __future__ import annotations

from collections.abc import Iterator

from chaos.errors import did_you_mean, quoted
from chaos.fault import FaultError
from chaos.selection import Inventory, Nodes
from fakes.node import Node
from fakes.system.services import Service, UnknownUnitError
from fakes.world import World


def services_of(nodes: Nodes, name: str, world: World) -> Iterator[tuple[Node, Service]]:
    """A service on each of the nodes. Raises :class:`FaultError` where there is none."""
    for node_name in nodes.resolve(Inventory.of(world)):
        node = world.nodes[node_name]
        try:
            yield node, node.services.find(name)
        except UnknownUnitError:
            known = [each.name.removesuffix(".service") for each in node.services]
            hint = did_you_mean(name, known, "Known services").rstrip(".")
            raise FaultError(f"there is no service {quoted(name)} on {node_name}{hint}") from None
