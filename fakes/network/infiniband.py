"""InfiniBand adapters and their ports, as /sys/class/infiniband shows them.

Values are those of NVIDIA's ConnectX-7 (NDR, 400 Gb/s) and ConnectX-6 (HDR, 200 Gb/s) as ibstat and
the kernel tell them; counters are those of the InfiniBand specification (volume 1, 16.1.3.5) and of
mlx5 (drivers/infiniband/hw/mlx5/counters.c).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from fakes.hardware.tally import Tally


class PortState(Enum):
    """The logical state: its number, and the kernel's word."""

    DOWN = (1, "DOWN")
    INIT = (2, "INIT")
    ARMED = (3, "ARMED")
    ACTIVE = (4, "ACTIVE")


class PhysicalState(Enum):
    """The state of the link itself: its number, and the kernel's word."""

    POLLING = (2, "Polling")
    DISABLED = (3, "Disabled")
    LINK_UP = (5, "LinkUp")


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of adapters. ``slower`` are the rates a link can fall back to, in Gb/s."""

    speed: str
    rate_gbps: int
    model: str
    device_id: int
    hca_type: str
    firmware: str
    board_id: str
    slower: dict[int, str]


NDR = Generation(
    "NDR", 400, "ConnectX-7", 0x1021, "MT4129", "28.39.1002", "MT_0000000838",
    {200: "2X NDR", 100: "1X NDR", 25: "1X EDR"},
)  # fmt: skip
HDR = Generation(
    "HDR", 200, "ConnectX-6", 0x101B, "MT4123", "20.37.1014", "MT_0000000223",
    {100: "2X HDR", 50: "1X HDR", 25: "1X EDR"},
)  # fmt: skip

COUNTERS = (
    "excessive_buffer_overrun_errors", "link_downed", "link_error_recovery",
    "local_link_integrity_errors", "port_rcv_constraint_errors", "port_rcv_data",
    "port_rcv_errors", "port_rcv_packets", "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors", "port_xmit_constraint_errors", "port_xmit_data",
    "port_xmit_discards", "port_xmit_packets", "port_xmit_wait", "symbol_error", "VL15_dropped",
)  # fmt: skip
HARDWARE_COUNTERS = (
    "duplicate_request", "implied_nak_seq_err", "lifespan", "local_ack_timeout_err",
    "np_cnp_sent", "np_ecn_marked_roce_packets", "out_of_buffer", "out_of_sequence",
    "packet_seq_err", "req_cqe_error", "rnr_nak_retry_err", "roce_adp_retrans",
    "rp_cnp_handled", "rp_cnp_ignored", "rx_icrc_encapsulated",
)  # fmt: skip


@dataclass(slots=True, eq=False)
class Adapter:
    """An adapter with one port, and the interface for IP on it.

    ``name`` is the device's (mlx5_0), ``interface`` the network interface's (ib0); GUIDs are 16 hex
    digits. ``lid`` is the port's address in its subnet, whose manager is at ``subnet_manager_lid``.
    """

    name: str
    interface: str
    generation: Generation
    guid: str
    lid: int
    pci_address: str
    numa_node: int
    serial: str
    subnet_manager_lid: int = 1
    state: PortState = PortState.ACTIVE
    physical: PhysicalState = PhysicalState.LINK_UP
    rate_gbps: int = 0
    counters: dict[str, Tally] = field(
        default_factory=lambda: {name: Tally() for name in COUNTERS}, repr=False
    )
    hardware_counters: dict[str, Tally] = field(
        default_factory=lambda: {name: Tally() for name in HARDWARE_COUNTERS}, repr=False
    )

    def __post_init__(self) -> None:
        """A link that works has its full rate."""
        self.rate_gbps = self.rate_gbps or self.generation.rate_gbps

    @property
    def tallies(self) -> tuple[Tally, ...]:
        """Everything that it counts."""
        return (*self.counters.values(), *self.hardware_counters.values())

    @property
    def device_id(self) -> int:
        """Its model's number on PCI."""
        return self.generation.device_id

    @property
    def is_active(self) -> bool:
        """Whether it carries data."""
        return self.state is PortState.ACTIVE

    @property
    def lanes(self) -> str:
        """What the link has negotiated: ``4X NDR``."""
        if self.rate_gbps == self.generation.rate_gbps:
            return f"4X {self.generation.speed}"
        return self.generation.slower.get(self.rate_gbps, f"1X {self.generation.speed}")

    @property
    def rate_text(self) -> str:
        """The kernel's words; of a link that is down it tells the slowest there is."""
        return f"{self.rate_gbps} Gb/sec ({self.lanes})" if self.is_active else "10 Gb/sec (4X SDR)"

    @property
    def guid_text(self) -> str:
        """The GUID as the kernel writes it: in four groups."""
        return ":".join(self.guid[at : at + 4] for at in range(0, 16, 4))

    @property
    def gid(self) -> str:
        """The port's first GID, as the kernel writes it."""
        return f"fe80:0000:0000:0000:{self.guid_text}"

    def set_link(self, *, up: bool) -> None:
        """Let its link be up, or down; a link that goes down is counted."""
        if not up and self.physical is PhysicalState.LINK_UP:
            self.counters["link_downed"].add(1)
        self.state = PortState.ACTIVE if up else PortState.DOWN
        self.physical = PhysicalState.LINK_UP if up else PhysicalState.POLLING
