"""What faults of links, switches and the fabric look up, and how they refuse what is not there."""

from __future__ import annotations

from collections.abc import Iterator

from chaos.fault import FaultError
from chaos.format.values import Numbers
from chaos.selection import Inventory, Nodes
from fakes.hardware.gpu import Gpu
from fakes.hardware.links import Switch, switches_of
from fakes.node import Node
from fakes.world import World


def check_links(gpu: Gpu, links: Numbers) -> tuple[int, ...]:
    """The numbers of a GPU's links that are meant; one that it does not have is a mistake."""
    count = len(gpu.nvlinks)
    if not count:
        raise FaultError(f"{gpu.profile.name} has no NVLinks")
    chosen = links.of(count)
    if chosen[-1] >= count:
        raise FaultError(f"{gpu.node}/{gpu.index} has no link {chosen[-1]}, only 0 to {count - 1}")
    return chosen


def check_fabric(gpu: Gpu) -> None:
    """Refuse a GPU that is in no fabric."""
    if not gpu.profile.can.fabric:
        raise FaultError(f"{gpu.profile.name} does not register with a fabric")


def switch_of(nodes: Nodes, index: int, world: World) -> Iterator[tuple[Node, Switch]]:
    """A switch of each of the nodes; one that is not there is a mistake."""
    for name in nodes.resolve(Inventory.of(world)):
        node = world.nodes[name]
        switches = switches_of(node)
        if index >= len(switches):
            raise FaultError(f"{name} has {len(switches)} NVSwitches, counted from 0; not {index}")
        yield node, switches[index]
