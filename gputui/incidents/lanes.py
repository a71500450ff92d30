"""How grave it is that a GPU has fewer PCIe lanes than it could have."""

from __future__ import annotations

from gputui.incidents.rule import CRITICAL, WARNING
from gputui.model import GpuSample, Severity

_FAILS_AT = 0.25
"""At this part of the bandwidth that there should be, and below, health checks take a node out of
service (IBM's Autopilot: host to device below a quarter of the peak)."""


def has_fewer_lanes(gpu: GpuSample) -> bool:
    """Whether its link is narrower than card and slot allow."""
    return 0 < (gpu.pcie_width or 0) < (gpu.pcie_width_max or 0)


def severity_of_lanes(gpu: GpuSample) -> Severity:
    """Half of the lanes make work slower, and it goes on; a quarter is as good as none."""
    width, width_max = gpu.pcie_width or 0, gpu.pcie_width_max or 0
    return CRITICAL if width <= _FAILS_AT * width_max else WARNING
