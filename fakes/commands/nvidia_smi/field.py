"""A property that can be asked for: its names, its unit, how it is read, how its cell looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from fakes.commands.nvidia_smi.reading import Driver, Missing

Row = TypeVar("Row")
"""What a line of output is about: a GPU, a process on one, a retired page ..."""


@dataclass(frozen=True, slots=True)
class Field(Generic[Row]):
    """One property. Its first name is the one that headings show.

    ``read`` returns the value's text, without the unit. ``bare`` is a quirk of some: they miss
    their brackets when they have no value.
    """

    names: tuple[str, ...]
    read: Callable[[Row], str]
    unit: str = ""
    about: str = ""
    bare: bool = False

    @property
    def heading(self) -> str:
        """Its column's heading: ``memory.used [MiB]``."""
        return f"{self.names[0]} [{self.unit}]" if self.unit else self.names[0]

    def cell(self, row: Row, driver: Driver, *, units: bool = True) -> str:
        """Its cell in CSV: ``1024 MiB``, ``1024``, ``[N/A]``, ``[GPU requires reset]``."""
        try:
            value = self.read(row)
        except Missing as missing:
            why = driver.why(missing.code)
            return why if self.bare and why == "N/A" else f"[{why}]"
        return f"{value} {self.unit}" if units and self.unit else value

    def line(self, row: Row, driver: Driver) -> str:
        """Its value in running text: ``1024 MiB``, ``N/A``, ``GPU requires reset``."""
        try:
            value = self.read(row)
        except Missing as missing:
            return driver.why(missing.code)
        return f"{value} {self.unit}" if self.unit else value


def field(
    *names: str,
    read: Callable[[Row], str],
    unit: str = "",
    about: str = "",
    bare: bool = False,
) -> Field[Row]:
    """A :class:`Field`, with its names written as they are typed."""
    return Field(names, read, unit, about, bare)
