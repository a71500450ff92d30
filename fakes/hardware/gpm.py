"""Samples for GPU performance monitoring: what a GPU's counters were at a moment.

A program makes samples, lets the driver fill them, and asks what happened between two of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from fakes.driver.handles import Handles
from fakes.hardware.gpu import Gpu

SAMPLE_LIMIT = 4096
"""Samples that a node's programs may have at one time."""


@dataclass(frozen=True, slots=True)
class Counters:
    """A GPU's counters and rates at a moment; traffic of one NVLink is since the node's start."""

    gpu: int
    at_us: int
    utilization_percent: int
    memory_utilization_percent: int
    pcie_received_kib_per_s: int
    pcie_sent_kib_per_s: int
    nvlink_received_kib: int
    nvlink_sent_kib: int

    @classmethod
    def of(cls, gpu: Gpu, at_us: int) -> Counters:
        """Those of a GPU, now."""
        percent, memory_percent = gpu.utilization_rates(at_us)
        return cls(
            gpu.index,
            at_us,
            percent,
            memory_percent,
            gpu.pcie_kib_per_s(at_us, received=True),
            gpu.pcie_kib_per_s(at_us, received=False),
            gpu.nvlink_kib(at_us, received=True),
            gpu.nvlink_kib(at_us, received=False),
        )


@dataclass(slots=True)
class Sample:
    """A sample, filled or not yet, and the process that made it."""

    owner: int
    counters: Counters | None = None


class Samples:
    """A node's samples by handle.

    Forked children may use their parents' samples, as they have their parents' memory; only the
    owner's freeing frees one.
    """

    def __init__(self, seed: int = 0) -> None:
        self._samples: Handles[Sample] = Handles(seed, SAMPLE_LIMIT)

    def __len__(self) -> int:
        return len(self._samples)

    def make(self, client: int) -> int | None:
        """The handle of a new, empty sample; None where there are too many."""
        return self._samples.give(Sample(client))

    def find(self, handle: int) -> Sample | None:
        """The sample behind a handle, or None."""
        return self._samples.get(handle)

    def free(self, handle: int, client: int) -> None:
        """Free a sample that :meth:`find` finds."""
        sample = self._samples.get(handle)
        if sample is not None and sample.owner == client:
            self._samples.free(handle)
