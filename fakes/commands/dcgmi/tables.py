"""Tables as dcgmi draws them: two columns, texts wrapped into the second."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator


class Table:
    """Lines of a table whose columns are so wide."""

    def __init__(self, left: int, right: int) -> None:
        self.lines: list[str] = []
        self._left, self._right = left, right

    def rule(self, sign: str = "-") -> None:
        """A line across."""
        self.lines.append(f"+{sign * self._left}+{sign * self._right}+")

    def row(self, label: str, value: str = "") -> None:
        """A label and a value; a long value goes on in the next line."""
        width = self._right - 2
        for at, piece in enumerate(textwrap.wrap(value, width) or [""]):
            shown = label if at == 0 else ""
            self.lines.append(f"| {shown:<{self._left - 2}} | {piece:<{width}} |")

    def title(self, text: str) -> None:
        """A line over both columns."""
        self.lines.append(f"| {text:<{self._left + self._right - 1}} |")

    def section(self, name: str, sign: str) -> None:
        """A rule with a name in it."""
        head = f"{sign}-----  {name}  "
        self.lines.append(f"{head:-<{self._left + 1}}+{'-' * self._right}{sign}")


def joined(lines: Iterable[str]) -> str:
    """Lines as a text."""
    return "".join(f"{line}\n" for line in lines)


def indented(text: str, by: int = 4) -> Iterator[str]:
    """Lines further to the right."""
    return (f"{' ' * by}{line}" for line in text.splitlines())
