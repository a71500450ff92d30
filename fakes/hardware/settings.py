"""What somebody set on one GPU: modes, and the range in which its clocks may run.

Which of them take effect at once, and which at the next reset, follows nvidia-smi(1): ECC waits for
a reset, MIG does so only while the GPU is in use (Hopper on) or always (Ampere); what was locked by
hand is gone after a reset, modes in the infoROM (ECC, MIG) stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class ClockRange:
    """The clocks that are allowed; 0 is no bound."""

    lowest_mhz: int = 0
    highest_mhz: int = 0

    @property
    def is_bound(self) -> bool:
        """Whether somebody set it."""
        return bool(self.lowest_mhz or self.highest_mhz)


ANY_CLOCK = ClockRange()
"""Nobody set a bound."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Modes of one GPU. ``compute_mode`` is nvmlComputeMode_t; ``..._pending`` what comes next.

    ``application_mhz`` are the memory and SM clock that applications ask for, ``locked_memory_mhz``
    the one that somebody locked; None and 0 where nobody did.
    """

    compute_mode: int = 0
    ecc: bool = True
    ecc_pending: bool = True
    mig: bool = False
    mig_pending: bool = False
    accounting: bool = False
    locked: ClockRange = ANY_CLOCK
    application_mhz: tuple[int, int] | None = None
    locked_memory_mhz: int = 0

    def after_reset(self) -> Settings:
        """What is left of them after a reset: what waited is in force, what was locked is free."""
        return replace(
            self,
            ecc=self.ecc_pending,
            mig=self.mig_pending,
            locked=ANY_CLOCK,
            application_mhz=None,
            locked_memory_mhz=0,
        )

    @property
    def sm_range(self) -> ClockRange:
        """The SM clocks that they allow: locked ones go before applications' (nvidia-smi(1))."""
        if self.locked.is_bound or self.application_mhz is None:
            return self.locked
        return ClockRange(0, self.application_mhz[1])
