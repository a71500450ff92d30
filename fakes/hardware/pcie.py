"""A GPU's PCI Express link: what it has come down to, and its errors.

What the kernel prints of errors is its own (drivers/pci/pcie/aer.c and dpc.c of Linux); which bits
of the error status stand for what is the PCI Express Base Specification's (7.8.4, Advanced Error
Reporting).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from fakes.profile import PcieProfile

_KIB_PER_S_A_LANE = {1: 244_140, 2: 488_281, 3: 961_538, 4: 1_923_076, 5: 3_846_153, 6: 7_563_025}
"""What a lane carries one way: the transfer rate less the line code (8b/10b, then 128b/130b)."""


class AerError(Enum):
    """How bad an error is that a device reports (PCI Express: correctable or not, fatal or not)."""

    CORRECTED = "corrected"
    NONFATAL = "nonfatal"
    FATAL = "fatal"


@dataclass(slots=True, eq=False)
class PcieLink:
    """What a link runs at where that is less than GPU and slot can do, and what it counted.

    ``width`` are lanes. ``replays`` are packets that had to be sent again; ``errors`` those that
    the device reported, by how bad they were.
    """

    width: int | None = None
    generation: int | None = None
    replays: int = 0
    errors: dict[AerError, int] = field(default_factory=lambda: dict.fromkeys(AerError, 0))

    def width_of(self, profile: PcieProfile) -> int:
        """The lanes in use."""
        return profile.width if self.width is None else min(self.width, profile.width)

    def generation_of(self, profile: PcieProfile, *, idle: bool) -> int:
        """The generation in use: an idle link is slower on some models, to save power."""
        usual = profile.idle_generation if idle else profile.generation
        return usual if self.generation is None else min(self.generation, usual)

    def capacity_kib_per_s(self, profile: PcieProfile) -> int:
        """The traffic that it can carry one way."""
        generation = self.generation_of(profile, idle=False)
        return self.width_of(profile) * _KIB_PER_S_A_LANE[generation]


@dataclass(frozen=True, slots=True)
class _AerText:
    """An error as the kernel prints it: severity, layer, agent, status and mask, the bit's name."""

    received: str
    severity: str
    layer: str
    agent: str
    status: int
    mask: int
    bit: int
    name: str


_AER_TEXTS = {
    AerError.CORRECTED: _AerText(
        "Correctable", "Correctable", "Data Link Layer", "Transmitter ID", 0x1000, 0xA000, 12,
        "Timeout",
    ),
    AerError.NONFATAL: _AerText(
        "Uncorrectable (Non-Fatal)", "Uncorrectable (Non-Fatal)", "Transaction Layer",
        "Requester ID", 0x4000, 0, 14, "CmpltTO",
    ),
    AerError.FATAL: _AerText(
        "Uncorrectable (Fatal)", "Uncorrectable (Fatal)", "Data Link Layer", "Receiver ID", 0x20, 0,
        5, "SDES",
    ),
}  # fmt: skip


def aer_lines(port: str, device: str, device_id: int, error: AerError) -> tuple[str, ...]:
    """What the kernel prints of one error that ``device`` reported to the root port ``port``.

    Addresses are ``0000:3b:00``; ``device_id`` is NVML's: device in the upper half, vendor below.
    """
    text = _AER_TEXTS[error]
    whose = f"nvidia {device}.0:"
    ids = f"{device_id & 0xFFFF:04x}:{device_id >> 16:04x}"
    return (
        f"pcieport {port}.0: AER: {text.received} error message received from {device}.0",
        f"{whose} PCIe Bus Error: severity={text.severity}, type={text.layer}, ({text.agent})",
        f"{whose}   device [{ids}] error status/mask={text.status:08x}/{text.mask:08x}",
        f"{whose}    [{text.bit:2}] {text.name}",
    )


def dpc_lines(port: str) -> tuple[str, ...]:
    """What the kernel prints when a port cuts off what is below it (DPC)."""
    return (
        f"pcieport {port}.0: DPC: containment event, status:0x1f01 source:0x0000",
        f"pcieport {port}.0: DPC: unmasked uncorrectable error detected",
    )
