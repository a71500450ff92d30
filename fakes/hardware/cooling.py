"""What carries a node's heat away: air that comes in, or a coolant, at a temperature.

A GPU's heat sink stands in air (or on a plate) that is some degrees above what comes into the node.
Whatever comes in warmer makes all of it warmer by as much.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fakes.hardware.gpu import Gpu

NOMINAL_INLET_C = 22.0
"""Air at a node's inlet: in the middle of what ASHRAE's TC 9.9 recommends (18 to 27 C)."""

NOMINAL_COOLANT_C = 30.0
"""Coolant at a node's inlet: below the least warm class for water cooling at heart, W32."""


class Inlet:
    """The air that comes into a node, and who wants to know of it."""

    def __init__(self) -> None:
        self.celsius = NOMINAL_INLET_C
        self._listeners: list[Callable[[float], None]] = []

    def listen(self, listener: Callable[[float], None]) -> None:
        """Call ``listener`` with the temperature, now and whenever it changes."""
        self._listeners.append(listener)
        listener(self.celsius)

    def set(self, celsius: float) -> None:
        """Let air of a temperature come in. What that does to the GPUs is :func:`warm`'s."""
        self.celsius = celsius
        for listener in self._listeners:
            listener(celsius)


def warm(gpus: Iterable[Gpu], by_k: float, at_us: int) -> None:
    """Let what reaches the heat sinks of ``gpus`` be so much warmer from ``at_us`` on."""
    for gpu in gpus:
        gpu.set_air(gpu.conditions.air_c + by_k, at_us)
