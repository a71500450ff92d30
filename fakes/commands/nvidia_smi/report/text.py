"""The report as text: labels, steps from the left, and values in one column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from fakes.commands.nvidia_smi.report.layout import Entry, Listing

VALUE_AT = 55
"""The column of a value's colon."""


class TextSheet:
    """Lines of text, in ``lines``."""

    def __init__(self, depth: int = 0) -> None:
        self.lines: list[str] = []
        self._depth = depth

    def line(self, label: str, value: str) -> None:
        """A label and a value."""
        self.lines.append(f"{_label(self._depth, label, VALUE_AT)}: {value}\n")

    def open(self, label: str) -> None:
        """A heading."""
        self.lines.append(f"{'    ' * self._depth}{label}\n")
        self._depth += 1

    def close(self) -> None:
        """The end of what belongs under it."""
        self._depth -= 1

    def listing(self, part: Listing, entries: Sequence[Entry]) -> None:
        """A list."""
        if not entries:
            self.line(part.label, part.none)
            return
        self.open(part.label)
        for entry in entries:
            label = _label(self._depth + entry.deeper, entry.label, part.value_at or VALUE_AT)
            self.lines.append(f"{label}: {entry.value}\n")
        self.close()


@lru_cache(maxsize=4096)
def _label(depth: int, label: str, value_at: int) -> str:
    return f"{'    ' * depth + label:<{value_at}}"
