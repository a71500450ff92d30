"""A counter that grows with time: what it reads is a function of time since its rate changed."""

from __future__ import annotations

from fakes.clock import SECOND_US


class Tally:
    """A count that grows by ``per_s`` a second, in whole numbers."""

    __slots__ = ("_count", "_per_s", "_since_us")

    def __init__(self, count: int = 0, per_s: int = 0, since_us: int = 0) -> None:
        self._count = count
        self._per_s = per_s
        self._since_us = since_us

    @property
    def per_s(self) -> int:
        """How fast it grows."""
        return self._per_s

    def at(self, at_us: int) -> int:
        """What it reads."""
        return self._count + max(at_us - self._since_us, 0) * self._per_s // SECOND_US

    def add(self, count: int) -> None:
        """Count some more, at once."""
        self._count += count

    def grow(self, per_s: int, at_us: int) -> None:
        """Grow at another rate from now on."""
        self._count, self._per_s, self._since_us = self.at(at_us), per_s, at_us

    def clear(self, at_us: int) -> None:
        """Begin at zero again."""
        self._count, self._since_us = 0, at_us
