"""A network interface of a node, as the kernel knows it.

Drivers, speeds and counters are those of the servers that GPUs stand in: a ConnectX port for
Ethernet (mlx5_core), IP over InfiniBand (ib_ipoib) on each port of the compute fabric.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from ipaddress import ip_address, ip_interface

from fakes.hardware.tally import Tally


class Medium(Enum):
    """What an interface sends over."""

    LOOPBACK = "loopback"
    ETHERNET = "ethernet"
    INFINIBAND = "infiniband"
    BRIDGE = "bridge"


COUNTERS = (
    "rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_missed_errors", "rx_crc_errors",
    "tx_bytes", "tx_packets", "tx_errors", "tx_dropped",
)  # fmt: skip
"""Those of /sys/class/net/IF/statistics that are kept; the others are always zero."""

_LARGEST_FRAME_BYTES = 1500


@dataclass(slots=True, eq=False)
class Interface:
    """One interface. ``index`` is the kernel's number, ``address`` has its prefix (10.0.0.1/16).

    ``is_up`` is its administrator's word, ``carrier`` the cable's; ``carrier_changes`` counts both
    ways. ``pci_address`` is that of its card, "" for what only the kernel knows.
    """

    name: str
    index: int
    medium: Medium
    address: str
    mac: str
    mtu: int = _LARGEST_FRAME_BYTES
    speed_mbps: int = 0
    driver: str = ""
    pci_address: str = ""
    numa_node: int = 0
    is_up: bool = True
    carrier: bool = True
    carrier_changes: int = 2
    counters: dict[str, Tally] = field(
        default_factory=lambda: {name: Tally() for name in COUNTERS}, repr=False
    )

    @property
    def ip(self) -> str:
        """Its address without the prefix; "" where it has none."""
        return self.address.partition("/")[0]

    @property
    def works(self) -> bool:
        """Whether anything can be sent."""
        return self.is_up and self.carrier

    @property
    def operstate(self) -> str:
        """The kernel's word (Documentation/networking/operstates.rst)."""
        if self.medium is Medium.LOOPBACK:
            return "unknown"
        return "up" if self.works else "down"

    @property
    def broadcast(self) -> str:
        """The address of everybody in its network."""
        return str(ip_interface(self.address).network.broadcast_address)

    @property
    def network(self) -> str:
        """Its network, with the prefix: 10.0.0.0/16."""
        return str(ip_interface(self.address).network)

    def reaches(self, address: str) -> bool:
        """Whether an address is in its network."""
        return bool(self.address) and ip_address(address) in ip_interface(self.address).network

    def set_carrier(self, carrier: bool) -> None:
        """Let the cable work, or not."""
        if carrier != self.carrier:
            self.carrier = carrier
            self.carrier_changes += 1
