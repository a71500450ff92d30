"""The run's clock: virtual, scaled or wall, behind one interface.

Time in a world is an integer number of microseconds since the run began, so that comparing and
scheduling never depend on a machine's floating point. The world itself reads no clock: whoever
drives it asks one and tells the world how far to advance.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Epoch:
    """Where a run lies on the calendar: what NVML's time stamps and a log's dates are made from.

    ``began_us`` is the Unix time, in microseconds, at which the run began; ``rate`` is how many
    microseconds of the run pass in one of the host's, so that stamps compare with a client's clock.
    """

    began_us: int = 1_767_225_600_000_000  # 2026-01-01 00:00 UTC: virtual runs look alike
    rate: float = 1.0

    def unix_us(self, at_us: int) -> int:
        """The Unix time, in microseconds, of a moment of the run."""
        return self.began_us + (at_us if self.rate == 1 else int(at_us / self.rate))


class Clock(Protocol):
    """Whatever can tell the microseconds since the run began."""

    def now_us(self) -> int:
        """Microseconds since the run began."""
        ...


class VirtualClock:
    """Stands still until told to jump: tests and campaigns."""

    def __init__(self, start_us: int = 0) -> None:
        self._now_us = start_us

    def now_us(self) -> int:
        """Microseconds since the run began."""
        return self._now_us

    def jump(self, to_us: int) -> None:
        """Jump forward to ``to_us``. A jump into the past is a mistake of the caller."""
        if to_us < self._now_us:
            raise ValueError(f"the clock stands at {self._now_us} us and cannot go back to {to_us}")
        self._now_us = to_us


class ScaledClock:
    """Follows the host's monotonic clock times ``rate``: game days (``--rate 10``)."""

    def __init__(self, rate: float = 1.0) -> None:
        if rate <= 0:
            raise ValueError(f"a clock's rate must be above zero, not {rate}")
        self.rate = rate
        self._start_ns = time.monotonic_ns()
        self._paused_ns: int | None = None

    @property
    def paused(self) -> bool:
        """Whether it stands still."""
        return self._paused_ns is not None

    def pause(self) -> None:
        """Stand still from now on."""
        if self._paused_ns is None:
            self._paused_ns = time.monotonic_ns()

    def resume(self) -> None:
        """Go on from where it stood. The run lies later on the calendar now: see :meth:`epoch`."""
        if self._paused_ns is not None:
            self._start_ns += time.monotonic_ns() - self._paused_ns
            self._paused_ns = None

    def now_us(self) -> int:
        """Microseconds since the run began."""
        return int(self._elapsed_ns() * self.rate) // 1000

    def epoch(self) -> Epoch:
        """Where the run lies on the calendar."""
        return Epoch((time.time_ns() - self._elapsed_ns()) // 1000, self.rate)

    def real_seconds(self, us: int) -> float:
        """How long ``us`` on this clock lasts on the host's, while it runs."""
        return us / SECOND_US / self.rate

    def _elapsed_ns(self) -> int:
        now_ns = time.monotonic_ns() if self._paused_ns is None else self._paused_ns
        return now_ns - self._start_ns


class WallClock(ScaledClock):
    """The host's monotonic clock, as it is."""

    def __init__(self) -> None:
        super().__init__(1.0)
