"""What the faults of network interfaces share: which one is meant, and its link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from chaos.errors import did_you_mean, quoted
from chaos.fault import FaultError
from chaos.selection import Inventory, Nodes
from fakes.nccl.outage import network_changed
from fakes.network.infiniband import Adapter
from fakes.network.interface import Interface, Medium
from fakes.node import Node
from fakes.world import World

ALL = "all"


@dataclass(frozen=True, slots=True, eq=False)
class Nic:
    """An interface of a node, and the InfiniBand adapter that it stands on, if it does."""

    node: Node
    interface: Interface
    adapter: Adapter | None

    def set_link(self, world: World, *, up: bool) -> None:
        """Let its cable work, or not; the driver says so in the kernel log."""
        if up == self.interface.carrier:
            return
        at_us = world.now_us
        if self.adapter is not None:
            self.adapter.set_link(up=up)
        self.interface.set_carrier(up)
        name, driver = self.interface.name, f"mlx5_core {self.interface.pci_address}"
        if self.adapter is None:
            self.node.kernel_log.write(at_us, f"{driver} {name}: Link {'up' if up else 'down'}")
        if up:
            text = f"IPv6: ADDRCONF(NETDEV_CHANGE): {name}: link becomes ready"
            self.node.kernel_log.write(at_us, text)
        else:
            network_changed(world, self.node)


def nics_of(world: World, nodes: Nodes, name: str) -> Iterator[Nic]:
    """The interfaces of this name, or of their adapter's name, on each node; all of those with a
    cable for ``all``.
    """
    for node_name in nodes.resolve(Inventory.of(world)):
        node = world.nodes[node_name]
        cabled = [
            one
            for one in node.network.outward
            if one.medium in (Medium.ETHERNET, Medium.INFINIBAND)
        ]
        adapter = node.network.adapter(name)
        wanted = adapter.interface if adapter is not None else name
        found = [one for one in cabled if name == ALL or one.name == wanted]
        if not found:
            known = did_you_mean(name, [one.name for one in cabled], "Its interfaces").rstrip(".")
            raise FaultError(f"{node_name} has no interface {quoted(name)}{known}")
        for one in found:
            yield Nic(node, one, node.network.adapter_of(one))
