"""Memory errors of one GPU: ECC counters, remapped rows of HBM, retired pages of older memory.

What is counted where follows NVIDIA's documents on memory error management: *volatile* counters go
back to zero when the driver is loaded or the GPU is reset, *aggregate* ones are the board's for
life. From Ampere on, a bad row is replaced by a spare one of its bank at the next reset; before
that, its page was taken out of use, 64 of them at most.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

MOST_PAGES = 64
"""As many pages as the board's list has room for (NVIDIA, Dynamic Page Retirement)."""

SRAM_THRESHOLD = 4
"""More uncorrectable errors of the chip's own memories than this, over its life, raise the flag.

Field practice returns such boards; what number the driver goes by is not published.
"""


class Place(Enum):
    """Where a memory error was: in the frame buffer, or in a memory of the chip itself."""

    DRAM = "dram"
    SRAM = "sram"


@dataclass(slots=True)
class MemoryErrors:
    """ECC errors: since the driver was loaded, and over the GPU's life.

    In the frame buffer, unless the name says ``sram``: that is the L2 cache, the only memory of the
    chip that fails here. Corrected ones of the frame buffer come at ``corrected_per_s`` from
    ``since_us`` on, besides those that are counted already.
    """

    volatile_corrected: int = 0
    volatile_uncorrected: int = 0
    aggregate_corrected: int = 0
    aggregate_uncorrected: int = 0
    volatile_sram_uncorrected: int = 0
    aggregate_sram_uncorrected: int = 0
    corrected_per_s: int = 0
    since_us: int = 0

    @property
    def all_volatile_uncorrected(self) -> int:
        """Those that could not be corrected, wherever, since the driver was loaded."""
        return self.volatile_uncorrected + self.volatile_sram_uncorrected

    @property
    def all_aggregate_uncorrected(self) -> int:
        """Those that could not be corrected, wherever, over the GPU's life."""
        return self.aggregate_uncorrected + self.aggregate_sram_uncorrected

    @property
    def sram_threshold_exceeded(self) -> bool:
        """Whether the chip's own memories have failed too often."""
        return self.aggregate_sram_uncorrected > SRAM_THRESHOLD

    def corrected(self, at_us: int, *, aggregate: bool = False) -> int:
        """Those that were corrected."""
        counted = self.aggregate_corrected if aggregate else self.volatile_corrected
        return counted + self._came(at_us)

    def count_uncorrected(self, place: Place) -> None:
        """Count one more error that could not be corrected."""
        if place is Place.DRAM:
            self.volatile_uncorrected += 1
            self.aggregate_uncorrected += 1
        else:
            self.volatile_sram_uncorrected += 1
            self.aggregate_sram_uncorrected += 1

    def coming(self, corrected_per_s: int, at_us: int) -> MemoryErrors:
        """The same, with corrected errors at another rate from ``at_us`` on."""
        return replace(
            self,
            volatile_corrected=self.corrected(at_us),
            aggregate_corrected=self.corrected(at_us, aggregate=True),
            corrected_per_s=corrected_per_s,
            since_us=at_us,
        )

    def after_reset(self, at_us: int) -> MemoryErrors:
        """What is left of them after a reset, or when the driver is loaded anew."""
        return MemoryErrors(
            aggregate_corrected=self.corrected(at_us, aggregate=True),
            aggregate_uncorrected=self.aggregate_uncorrected,
            aggregate_sram_uncorrected=self.aggregate_sram_uncorrected,
            corrected_per_s=self.corrected_per_s,
            since_us=at_us,
        )

    def forgotten(self, at_us: int, *, aggregate: bool) -> MemoryErrors:
        """The same with one sort of counters set to zero (nvmlDeviceClearEccErrorCounts)."""
        if not aggregate:
            return self.after_reset(at_us)
        return MemoryErrors(
            volatile_corrected=self.corrected(at_us),
            volatile_uncorrected=self.volatile_uncorrected,
            volatile_sram_uncorrected=self.volatile_sram_uncorrected,
            corrected_per_s=self.corrected_per_s,
            since_us=at_us,
        )

    def _came(self, at_us: int) -> int:
        if not self.corrected_per_s:
            return 0
        return self.corrected_per_s * max(0, at_us - self.since_us) // 1_000_000


@dataclass(slots=True)
class RemappedRows:
    """Rows of HBM replaced by spare ones, by the kind of error that led to it.

    A row counts as soon as it is marked; ``pending`` says that it takes a reset to be replaced,
    ``failed`` that there was no spare row for one. ``banks_low`` and ``banks_none`` are banks that
    have few spare rows left, and none.
    """

    correctable: int = 0
    uncorrectable: int = 0
    pending: bool = False
    failed: bool = False
    banks_low: int = 0
    banks_none: int = 0

    def after_reset(self) -> RemappedRows:
        """What was marked has been replaced; a failure is the board's for life."""
        return replace(self, pending=False)

    def histogram(self, banks: int) -> tuple[int, int, int, int, int]:
        """How many of ``banks`` have all, most, some, few and no spare rows left.

        A bank that gave a row away has most of them left; each row is taken to be of another bank.
        """
        touched = min(banks, self.correctable + self.uncorrectable)
        used_up = min(banks - touched, self.banks_low + self.banks_none)
        none = min(used_up, self.banks_none)
        return banks - touched - used_up, touched, 0, used_up - none, none


@dataclass(slots=True)
class RetiredPages:
    """Pages taken out of use, by why; each stands for when it was (microseconds of the run).

    ``pending`` says that the last ones wait for the driver to be loaded anew.
    """

    single_bit_us: tuple[int, ...] = ()
    double_bit_us: tuple[int, ...] = ()
    pending: bool = False

    @property
    def count(self) -> int:
        """All of them."""
        return len(self.single_bit_us) + len(self.double_bit_us)

    def after_reload(self) -> RetiredPages:
        """What waited is out of use now."""
        return replace(self, pending=False)
