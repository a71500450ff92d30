"""What somebody wrote into the configuration space of PCI devices."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class PciWrites:
    """Bytes, by boot, address of the device and offset: a boot begins with none."""

    bytes: dict[tuple[int, str, int], int] = field(default_factory=dict)
