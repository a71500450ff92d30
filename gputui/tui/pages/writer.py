"""Lines of a page, from the top down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from gputui.tui.roles import Role
from gputui.tui.scene import Scene
from gputui.tui.text import Line, Run, clean, make_line, wrap

Page = tuple[Line, ...]
"""The lines of a page."""

PageSource = Callable[[Scene, int], Page]
"""A page as of a scene, for a width in cells. It is asked again whenever either changes."""

LABEL_CELLS = 14


class Writer:
    """Collects the lines of a page of ``width`` cells."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[Line] = []

    @property
    def page(self) -> Page:
        """What has been written."""
        return tuple(self.lines)

    def line(self, *runs: Run) -> None:
        """One line, cut at the width."""
        self.lines.append(make_line([Run(" "), *runs], self.width))

    def blank(self) -> None:
        """An empty line."""
        self.line()

    def heading(self, text: str) -> None:
        """A heading, set apart."""
        if self.lines:
            self.blank()
        self.line(Run(text, Role.TITLE))

    def labelled(
        self, label: str, text: str, role: Role = Role.TEXT, cells: int = LABEL_CELLS
    ) -> None:
        """A label and its text, which wraps beside it, or below it where the page is narrow."""
        beside = self.width >= cells + 26
        at = cells if beside else 2
        parts = wrap(clean(text), self.width - at - 2) or [""]
        if beside:
            self.line(Run(label.ljust(cells), Role.DIM), Run(parts[0], role))
            parts = parts[1:]
        else:
            self.line(Run(label, Role.DIM))
        for part in parts:
            self.line(Run(" " * at), Run(part, role))

    def paragraph(self, text: str, role: Role = Role.TEXT) -> None:
        """A text, wrapped."""
        for part in wrap(clean(text), self.width - 2):
            self.line(Run(part, role))

    def described(self, name: str, meaning: str) -> None:
        """A name and what it means, which wraps beside it."""
        at = len(name)
        parts = wrap(meaning, self.width - at - 2)
        self.line(Run(name, Role.STRONG), Run(parts[0]))
        for part in parts[1:]:
            self.line(Run(" " * at), Run(part))

    def beside(self, lead: str, text: str) -> None:
        """A text as it was, wrapped beside what stands before it, or below it on a narrow page."""
        at = len(lead) if self.width >= len(lead) + 26 else 4
        parts = wrap(clean(text), self.width - at - 2) or [""]
        if at == len(lead):
            self.line(Run(lead, Role.DIM), Run(parts[0]))
            parts = parts[1:]
        elif lead.strip():
            self.line(Run(lead, Role.DIM))
        for part in parts:
            self.line(Run(" " * at), Run(part))

    def verbatim(self, texts: Iterable[str]) -> None:
        """Lines quoted as they were, wrapped with an indent."""
        for text in texts:
            for position, part in enumerate(wrap(clean(text), self.width - 6)):
                self.line(Run("  " if position == 0 else "    "), Run(part))


def beside(columns: Sequence[Sequence[Line]], width: int) -> list[Line]:
    """Columns of lines, each of one width, side by side in ``width`` cells."""
    widths = [column[0].width if column else 0 for column in columns]
    lines: list[Line] = []
    for row in range(max((len(column) for column in columns), default=0)):
        runs: list[Run] = []
        for column, cells in zip(columns, widths, strict=True):
            runs += column[row].runs if row < len(column) else [Run(" " * cells)]
        lines.append(make_line(runs, width))
    return lines
