"""Frame-buffer memory as its owners hold it, in closed form."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fakes.hardware.thermal import NEVER_US


@dataclass(frozen=True, slots=True)
class Allocation:
    """Memory held by one process on one GPU: so much at a moment, and growing (or not) since."""

    held_bytes: int
    since_us: int
    bytes_per_s: int = 0

    def bytes_at(self, at_us: int) -> int:
        """Bytes held at ``at_us``."""
        if not self.bytes_per_s:
            return self.held_bytes
        return self.held_bytes + self.bytes_per_s * (at_us - self.since_us) // 1_000_000

    def growing(self, bytes_per_s: int, at_us: int) -> Allocation:
        """The same memory, from ``at_us`` on growing at another rate."""
        return replace(
            self, held_bytes=self.bytes_at(at_us), since_us=at_us, bytes_per_s=bytes_per_s
        )


def full_us(allocations: tuple[Allocation, ...], capacity_bytes: int, now_us: int) -> int:
    """The first moment at which the allocations together exceed ``capacity_bytes``."""
    free = capacity_bytes - sum(a.bytes_at(now_us) for a in allocations)
    if free < 0:
        return now_us
    rate = sum(a.bytes_per_s for a in allocations)
    if rate <= 0:
        return NEVER_US
    return now_us + free * 1_000_000 // rate + 1
