"""/sys/class/net: the network interfaces.

Documentation/ABI/testing/sysfs-class-net and sysfs-class-net-statistics. Of an interface that its
administrator has put down some files cannot be read; here they are not there.
"""

from __future__ import annotations

from collections.abc import Iterator

from fakes.files.registry import Content, Files, Folder, Link, node_tree
from fakes.files.unchanged import unless_changed
from fakes.network.interface import Interface, Medium
from fakes.node import Node
from fakes.world import World

_HARDWARE_TYPES = {
    Medium.LOOPBACK: 772,
    Medium.ETHERNET: 1,
    Medium.BRIDGE: 1,
    Medium.INFINIBAND: 32,
}
"""ARPHRD_* of linux/if_arp.h."""

_IFF_UP, _IFF_BROADCAST, _IFF_LOOPBACK, _IFF_MULTICAST = 0x1, 0x2, 0x8, 0x1000
_ALWAYS_ZERO = (
    "collisions", "multicast", "rx_compressed", "rx_fifo_errors", "rx_frame_errors",
    "rx_length_errors", "rx_nohandler", "rx_over_errors", "tx_aborted_errors",
    "tx_carrier_errors", "tx_compressed", "tx_fifo_errors", "tx_heartbeat_errors",
    "tx_window_errors",
)  # fmt: skip
_UNKNOWN_SPEED = -1


_PATH = "/sys/class/net"


@node_tree(_PATH)
def interfaces(node: Node, world: World) -> Files:
    """A directory for each interface."""
    at_us = world.now_us
    state = tuple(
        (
            one.mtu,
            one.is_up,
            one.carrier_changes,
            one.speed_mbps,
            *(tally.at(at_us) for tally in one.counters.values()),
        )
        for one in node.network.interfaces
    )
    return unless_changed(node, _PATH, state, lambda: _tree(node, at_us))


def _tree(node: Node, at_us: int) -> Files:
    return {
        f"{one.name}/{name}": content
        for one in node.network.interfaces
        for name, content in _files(node, one, at_us)
    }


def _files(node: Node, interface: Interface, at_us: int) -> Iterator[tuple[str, Content]]:
    numbers = {
        "ifindex": interface.index,
        "iflink": interface.index,
        "mtu": interface.mtu,
        "type": _HARDWARE_TYPES[interface.medium],
        "addr_len": len(interface.mac.split(":")),
        "carrier_changes": interface.carrier_changes,
        "carrier_up_count": (interface.carrier_changes + interface.carrier) // 2,
        "carrier_down_count": (interface.carrier_changes + 1 - interface.carrier) // 2,
        "tx_queue_len": 256 if interface.medium is Medium.INFINIBAND else 1000,
        "dev_id": 0,
        "dev_port": 0,
        "link_mode": 0,
    }
    if interface.is_up:
        numbers["carrier"] = int(interface.carrier)
        if interface.speed_mbps:
            numbers["speed"] = interface.speed_mbps if interface.carrier else _UNKNOWN_SPEED
    for name, number in numbers.items():
        yield name, f"0x{number:x}\n" if name in ("dev_id",) else f"{number}\n"
    yield "flags", f"0x{_flags(interface):x}\n"
    yield "operstate", f"{interface.operstate}\n"
    yield "address", f"{interface.mac}\n"
    if interface.medium is Medium.ETHERNET:
        yield "duplex", "full\n" if interface.works else "unknown\n"
    for name, tally in interface.counters.items():
        yield f"statistics/{name}", f"{tally.at(at_us)}\n"
    for name in _ALWAYS_ZERO:
        yield f"statistics/{name}", "0\n"
    if interface.pci_address:
        yield from _device(node, interface)


def _device(node: Node, interface: Interface) -> Iterator[tuple[str, Content]]:
    yield "device/numa_node", f"{interface.numa_node}\n"
    yield "device/vendor", "0x15b3\n"
    yield "device/driver", Link("/sys/bus/pci/drivers/mlx5_core")
    adapter = node.network.adapter_of(interface)
    if adapter is not None:
        yield f"device/infiniband/{adapter.name}", Folder()


def _flags(interface: Interface) -> int:
    own = _IFF_LOOPBACK if interface.medium is Medium.LOOPBACK else _IFF_BROADCAST | _IFF_MULTICAST
    return own | (_IFF_UP if interface.is_up else 0)
