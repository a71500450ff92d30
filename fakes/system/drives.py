"""The NVMe drives of a node: what they are, and how they are worn."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.node import Node
from fakes.pci.tree import SAMSUNG, pci_devices
from fakes.system.machine import identity

MODEL = "SAMSUNG MZWLR3T8HBLS-00007"
FIRMWARE = "MPP9CB5Q"
BYTES = 3_840_755_982_336
WRITTEN_UNITS = 41_203_887
"""In units of 1000 blocks of 512 bytes (NVM Express, SMART / Health Information)."""


@dataclass(frozen=True, slots=True)
class Drive:
    """One drive. ``index`` is the N of the kernel's nvmeN."""

    index: int
    serial: str

    @property
    def name(self) -> str:
        """The controller's name."""
        return f"nvme{self.index}"

    @property
    def temperature_c(self) -> int:
        """As its own sensor reads it."""
        return 34 + self.index


def drives(node: Node) -> tuple[Drive, ...]:
    """All of them."""
    number = identity(node.name).serial[-6:]
    count = sum(device.vendor == SAMSUNG for device in pci_devices(node))
    return tuple(Drive(index, f"S6EUNA0R{number}{index}") for index in range(count))


def drive_at(node: Node, path: str) -> Drive | None:
    """The drive with a path: ``/dev/nvme0`` or that of its namespace, ``/dev/nvme0n1``."""
    name = path.removeprefix("/dev/")
    known = drives(node)
    return next((drive for drive in known if name in (drive.name, f"{drive.name}n1")), None)
