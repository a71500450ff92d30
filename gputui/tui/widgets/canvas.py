"""A widget that shows lines, and repaints only the cells that changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from gputui.tui.painter import paint
from gputui.tui.text import Line, Run, in_ascii, width_of
from gputui.tui.themes import Look, Theme

_WORTH_A_MOVE = 6
"""To pass over more unchanged cells than this takes fewer bytes than to draw them again."""

_PIECE = 8
"""So many characters are compared at a time."""


class Canvas(Widget):
    """The whole area of a screen, drawn line by line.

    ``draw`` gives the lines for a width and a height in cells. :meth:`redraw` compares them with
    those on the screen and repaints the spans that differ, nothing else; a new size draws anew.
    """

    DEFAULT_CSS = "Canvas { width: 100%; height: 100%; }"

    def __init__(
        self, draw: Callable[[int, int], Sequence[Line]], theme: Theme, *, ascii_only: bool
    ) -> None:
        super().__init__()
        self._draw = draw
        self.theme = theme
        self._ascii_only = ascii_only
        self._lines: tuple[Line, ...] = ()
        self._drawn_size: Size | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        """What is shown, in the size that the canvas has now."""
        if self._drawn_size != self.size:
            self._drawn_size = self.size
            self._lines = self._drawn()
        return self._lines

    def _drawn(self) -> tuple[Line, ...]:
        lines = tuple(self._draw(*self.size))
        return tuple(in_ascii(line) for line in lines) if self._ascii_only else lines

    def redraw(self) -> None:
        """Show what is to be shown now."""
        if self._drawn_size != self.size:
            self.refresh()
            return
        old, self._lines = self._lines, self._drawn()
        spans = [
            (y, start, end)
            for y, (before, after) in enumerate(zip(old, self._lines, strict=True))
            if before != after
            for start, end in changed_spans(before, after)
        ]
        if spans and not paint(self, spans):
            self.refresh(*(Region(start, y, end - start, 1) for y, start, end in spans))

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines as they are now: Textual would keep those that it did not paint itself."""
        x1, x2 = crop.column_span
        return [self.render_line(y).crop(x1, x2) for y in crop.line_range]

    def render_line(self, y: int) -> Strip:
        """One line in the theme's styles."""
        lines = self.lines
        if y >= len(lines):
            return Strip.blank(self.size.width)
        runs, selected = lines[y]
        look = self.theme.look
        return Strip([Segment(text, _style(look(role, selected=selected))) for text, role in runs])


@lru_cache(maxsize=256)
def _style(look: Look) -> Style:
    """A look in Rich's terms, naming only what is on: "not bold" would cost bytes."""
    return Style(
        color=None if look.colour is None else Color.from_ansi(look.colour),
        bgcolor=None if look.ground is None else Color.from_ansi(look.ground),
        bold=look.bold or None,
        dim=look.dim or None,
        reverse=look.reverse or None,
        underline=look.underline or None,
    )


def changed_spans(old: Line, new: Line) -> list[tuple[int, int]]:
    """Spans of cells, ``start <= x < end``, outside of which the two lines look the same."""
    if old.selected != new.selected:
        return [(0, max(old.width, new.width))]
    before = dict(_placed(old))
    spans: list[tuple[int, int]] = []
    for start, run in _placed(new):
        was = before.get(start)
        if was == run:
            continue
        if was is not None and was.role is run.role:
            spans += _within_run(was.text, run.text, start)
        else:
            spans.append((start, start + width_of(run.text)))
    return spans


def _placed(line: Line) -> list[tuple[int, Run]]:
    """The runs of a line, each with the cell where it begins."""
    placed = []
    x = 0
    for run in line.runs:
        placed.append((x, run))
        x += width_of(run.text)
    return placed


def _within_run(old: str, new: str, start: int) -> list[tuple[int, int]]:
    """The spans that changed within a run that begins at ``start``.

    Characters are compared only where every one takes one cell: then they and cells are the same.
    """
    width = width_of(new)
    if not len(old) == len(new) == width_of(old) == width:
        return [(start, start + width)]
    spans: list[tuple[int, int]] = []
    first = last = -1
    for at in _differences(old, new):
        if first < 0:
            first = at
        elif at - last > _WORTH_A_MOVE:
            spans.append((start + first, start + last + 1))
            first = at
        last = at
    if first >= 0:
        spans.append((start + first, start + last + 1))
    return spans


def _differences(old: str, new: str) -> Iterator[int]:
    """Where two texts of one length differ; pieces that are alike are passed over whole."""
    for piece in range(0, len(new), _PIECE):
        was, now = old[piece : piece + _PIECE], new[piece : piece + _PIECE]
        if was != now:
            for at, (before, after) in enumerate(zip(was, now, strict=True), piece):
                if before != after:
                    yield at
