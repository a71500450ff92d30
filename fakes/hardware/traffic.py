"""Traffic over a GPU's PCIe link: how much goes each way while its load stays as it is."""

from __future__ import annotations

from typing import NamedTuple

from fakes.hardware.noise import noise
from fakes.hardware.pcie import PcieLink
from fakes.profile import PcieProfile

_SAMPLE_US = 1_000_000
_IDLE = (340, 30)  # KiB a second, and how far it may be off (capture of an idle H100)
_SENT_SHARE = 0.8


class Traffic(NamedTuple):
    """Traffic one way: its mean, how far it may be off, and that noise's seed."""

    mean_kib_per_s: int
    wobble: int
    seed: int

    def kib_per_s(self, at_us: int) -> int:
        """KiB in the second of ``at_us``."""
        kib = self.mean_kib_per_s + noise(self.seed, at_us, _SAMPLE_US, self.wobble)
        return kib if kib > 0 else 0


def traffic(
    link: PcieLink, profile: PcieProfile, load: float, seed: int
) -> tuple[Traffic, Traffic]:
    """What a GPU under ``load`` (0..1) receives and sends over its link, as that is."""
    if load <= 0:
        return Traffic(*_IDLE, seed ^ 4), Traffic(*_IDLE, seed ^ 8)
    busy = min(profile.busy_kib_per_s, link.capacity_kib_per_s(profile) * 7 // 8)
    return (
        Traffic(round(busy * load), busy // 8, seed ^ 5),
        Traffic(round(busy * load * _SENT_SHARE), busy // 8, seed ^ 6),
    )
