"""The network of a node: its interfaces, its InfiniBand adapters, what is between it and others.

The nodes of a fleet are joined by one fabric for each interface: the first interfaces of all nodes
see each other, so do the second ones. Node n7 has 10.0.0.8 on its first, 10.1.0.8 on its second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fakes.hardware.noise import mix
from fakes.network.infiniband import HDR, NDR, Adapter, Generation
from fakes.network.interface import Interface, Medium
from fakes.profile import Profile

_HOPPER = 9
_NUMBER = re.compile(r"([0-9]+)$")
_NODES_A_NETWORK = 60_000
_MOST_ADAPTERS = 8
_ETHERNET_MBPS = 100_000
_IPOIB_MTU = 4092
"""What a datagram of IP over InfiniBand can carry at an MTU of 4096 (RFC 4391)."""


@dataclass(slots=True, eq=False)
class Trouble:
    """What is between a node and the others, beside broken links.

    ``loss`` is the share of packets that are lost, 0 to 1; ``latency_us`` comes on top of each way.
    ``cut_off`` are the nodes that cannot be reached.
    """

    loss: float = 0.0
    latency_us: int = 0
    cut_off: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class Network:
    """What a node has: ``interfaces`` by the kernel's numbers, loopback first; ``adapters``."""

    interfaces: tuple[Interface, ...]
    adapters: tuple[Adapter, ...]
    trouble: Trouble = field(default_factory=Trouble)

    def interface(self, name: str) -> Interface | None:
        """An interface by its name."""
        return next((one for one in self.interfaces if one.name == name), None)

    def adapter(self, name: str) -> Adapter | None:
        """An adapter by its name, or by that of its interface."""
        return next((one for one in self.adapters if name in (one.name, one.interface)), None)

    def adapter_of(self, interface: Interface) -> Adapter | None:
        """The adapter that an interface for IP over InfiniBand stands on."""
        return next((one for one in self.adapters if one.interface == interface.name), None)

    @property
    def outward(self) -> tuple[Interface, ...]:
        """The interfaces that lead anywhere."""
        return tuple(one for one in self.interfaces if one.medium is not Medium.LOOPBACK)

    @property
    def addresses(self) -> Iterator[str]:
        """The addresses that are this node's own."""
        return (one.ip for one in self.interfaces if one.ip)

    def owner_of(self, address: str) -> Interface | None:
        """The interface that has an address."""
        return next((one for one in self.interfaces if one.ip == address), None)

    def settle(self) -> None:
        """Let interfaces on adapters go with the link below them."""
        for adapter in self.adapters:
            interface = self.interface(adapter.interface)
            if interface is not None:
                interface.set_carrier(adapter.is_active)


def usual_nics(profile: Profile, gpus: int) -> tuple[str, ...]:
    """What a server of such GPUs has: modules on a baseboard have an InfiniBand port each."""
    if not profile.can.baseboard:
        return ("eth0",)
    return ("eth0", *(f"ib{number}" for number in range(min(gpus, _MOST_ADAPTERS))))


def network_of(node: str, profile: Profile, nics: Sequence[str], seed: int) -> Network:
    """The network of a node by its name; ``nics`` are its interfaces in order.

    One whose name begins with "ib" stands on an InfiniBand adapter; one that begins with "docker"
    or "virbr" is a bridge that leads nowhere, with the same address on every node.
    """
    number = number_of(node)
    generation = NDR if profile.architecture >= _HOPPER else HDR
    interfaces = [_loopback()]
    adapters: list[Adapter] = []
    for at, name in enumerate(nics):
        bits = mix(seed, at)
        if name.startswith(("docker", "virbr")):
            interfaces.append(_bridge(name, at + 2, bits))
            continue
        address = address_of(number, at)
        slot = _slot(at, len(nics))
        if name.startswith("ib"):
            adapter = _adapter(name, len(adapters), number, generation, bits, slot)
            adapters.append(adapter)
            interfaces.append(_ipoib(adapter, at + 2, address))
        else:
            interfaces.append(_ethernet(name, at + 2, address, bits, slot))
    return Network(tuple(interfaces), tuple(adapters))


def number_of(node: str) -> int:
    """A node's number in its fleet: 7 of n7."""
    found = _NUMBER.search(node)
    return int(found[1]) if found else 0


def address_of(number: int, nic: int) -> str:
    """The address, with its prefix, of a node's interface; both are counted from 0."""
    network, host = divmod(number, _NODES_A_NETWORK)
    host += 1
    return f"10.{nic + 16 * network}.{host >> 8}.{host & 0xFF}/16"


def _slot(at: int, count: int) -> tuple[str, int]:
    """The PCI address of a card, beside those of GPUs, and the NUMA node that it is at."""
    return f"0000:{0x17 + 0x11 * at & 0xFF:02x}:00.0", int(2 * at > count)


def _loopback() -> Interface:
    return Interface("lo", 1, Medium.LOOPBACK, "127.0.0.1/8", "00:00:00:00:00:00", mtu=65536)


def _bridge(name: str, index: int, bits: int) -> Interface:
    address = "192.168.122.1/24" if name.startswith("virbr") else "172.17.0.1/16"
    # A bridge that nothing is attached to has no carrier.
    return Interface(name, index, Medium.BRIDGE, address, _mac(bits), carrier=False)


def _ethernet(name: str, index: int, address: str, bits: int, slot: tuple[str, int]) -> Interface:
    return Interface(
        name,
        index,
        Medium.ETHERNET,
        address,
        _mac(bits),
        mtu=9000,
        speed_mbps=_ETHERNET_MBPS,
        driver="mlx5_core",
        pci_address=slot[0],
        numa_node=slot[1],
    )


def _ipoib(adapter: Adapter, index: int, address: str) -> Interface:
    """IP over InfiniBand; its hardware address is queue pair, subnet prefix and GUID (RFC 4391)."""
    pairs = f"00001049fe80000000000000{adapter.guid}"
    mac = ":".join(pairs[at : at + 2] for at in range(0, len(pairs), 2))
    return Interface(
        adapter.interface,
        index,
        Medium.INFINIBAND,
        address,
        mac,
        mtu=_IPOIB_MTU,
        speed_mbps=adapter.rate_gbps * 1000,
        driver="mlx5_core[ib_ipoib]",
        pci_address=adapter.pci_address,
        numa_node=adapter.numa_node,
    )


def _adapter(
    interface: str,
    at: int,
    node: int,
    generation: Generation,
    bits: int,
    slot: tuple[str, int],
) -> Adapter:
    return Adapter(
        f"mlx5_{at}",
        interface,
        generation,
        f"a088c203{bits & 0xFFFFFFFF:08x}",  # NVIDIA's prefix, IEEE's list of OUIs
        100 + node * _MOST_ADAPTERS + at & 0xBFFF,
        slot[0],
        slot[1],
        f"MT{2300 + bits % 99:04d}X{bits >> 40 & 0xFFFFF:05d}"[:12],
    )


def _mac(bits: int) -> str:
    """A hardware address of NVIDIA's, by its low bits."""
    return "a0:88:c2:" + ":".join(f"{bits >> shift & 0xFF:02x}" for shift in (16, 8, 0))
