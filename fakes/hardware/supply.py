"""What feeds a node's GPUs: as long as it can, and then the power brake.

A supply that is asked for more than it can give pulls the power brake of every GPU it feeds (the
PWRBRK pin of the board, nvml.h: clocks are lowered by a factor of two or more), and lets go when
they want no more than it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fakes.hardware.gpu import Gpu

_NAME = "supply"


class PowerSupply:
    """Feeds ``gpus`` with so many milliwatts at most; None for whatever they want."""

    def __init__(self, gpus: Sequence[Gpu]) -> None:
        self.capacity_mw: int | None = None
        self._pulls = False
        self._gpus = gpus
        self._listeners: list[Callable[[bool, int], None]] = []

    def listen(self, listener: Callable[[bool, int], None]) -> None:
        """Tell ``listener`` whether part of it has failed, and when, whenever that changes."""
        self._listeners.append(listener)

    @property
    def is_overdrawn(self) -> bool:
        """Whether its GPUs want more than it has. What they draw, braked, is no answer."""
        return self.capacity_mw is not None and self.capacity_mw < sum(
            gpu.wanted_mw for gpu in self._gpus if gpu.lost is None
        )

    def give(self, capacity_mw: int | None, at_us: int) -> None:
        """Be able to give so much from ``at_us`` on."""
        if (capacity_mw is None) is not (self.capacity_mw is None):
            for listener in self._listeners:
                listener(capacity_mw is not None, at_us)
        self.capacity_mw = capacity_mw
        self.review(at_us)

    def review(self, at_us: int) -> None:
        """Pull the brakes, or let go of them: what the GPUs want may have changed."""
        overdrawn = self.is_overdrawn
        if overdrawn is not self._pulls:
            self._pulls = overdrawn
            for gpu in self._gpus:
                gpu.set_brake(_NAME, at_us, on=overdrawn)
