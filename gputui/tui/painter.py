"""Only the characters that changed reach the terminal.

Textual repaints a widget in five steps, each a message to itself, and sends changed cells from the
widget's left edge, with the whole style set anew for each piece of text. Where a screen is one
canvas and nothing else, the changed spans are sent at once, and only those parts of the style that
differ. With anything else on the screen (a toast), or in a Textual that is made differently,
Textual's own way is taken.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.color import Color, ColorSystem
from rich.segment import Segment
from textual._compositor import CompositorUpdate

from gputui.tui.roles import Role
from gputui.tui.text import Line, width_of
from gputui.tui.themes import Look, Theme

if TYPE_CHECKING:
    from rich.console import Console

    from gputui.tui.widgets.canvas import Canvas

Span = tuple[int, int, int]
"""Cells of a line: ``(y, x1, x2)`` with ``x1 <= x < x2``."""


def paint(canvas: Canvas, spans: Sequence[Span]) -> bool:
    """Send spans of the canvas to the terminal; False where Textual has to do it."""
    app, screen = canvas.app, canvas.screen
    if not hasattr(app, "_display") or app._batch_count or screen is not app.screen:
        return False
    if not _is_alone(canvas):
        return False
    app._display(screen, SpanUpdate(spans, canvas.lines, canvas.theme))  # type: ignore[arg-type]
    return True


def _is_alone(canvas: Canvas) -> bool:
    """Whether the canvas is all there is to be seen, and covers the screen."""
    screen = canvas.screen
    shown = screen._compositor.visible_widgets
    place = shown.get(canvas)
    return (
        place is not None
        and place[0] == screen.size.region
        and all(widget is canvas or widget is screen for widget in shown)
    )


class SpanUpdate(CompositorUpdate):
    """Spans of lines, in as few bytes as is simple."""

    def __init__(self, spans: Sequence[Span], lines: Sequence[Line], theme: Theme) -> None:
        self._spans = spans
        self._lines = lines
        self._theme = theme

    def render_segments(self, console: Console) -> str:
        """The escape sequences that draw the spans; the style is plain before and after.

        Pieces of one style are drawn together: going to a place takes fewer bytes than changing
        colours there and back.
        """
        system = console._color_system or ColorSystem.TRUECOLOR
        out: list[str] = []
        style, at_y, at_x = _PLAIN, -1, -1
        for wanted, y, x, text, cells in sorted(self._pieces(system)):
            if y != at_y:
                out.append(f"\x1b[{y + 1};{x + 1}H")
            elif x != at_x:
                out.append(f"\x1b[{x + 1}G")
            out.append(_change(style, wanted))
            out.append(text)
            style, at_y, at_x = wanted, y, x + cells
        out.append(_change(style, _PLAIN))
        return "".join(out)

    def _pieces(self, system: ColorSystem) -> Iterator[tuple[_Codes, int, int, str, int]]:
        """Every piece of one style in the spans: style, place, text and its width."""
        for y, x1, x2 in self._spans:
            if y >= len(self._lines):
                continue
            runs, selected = self._lines[y]
            x = 0
            for text, role in runs:
                cells = width_of(text)
                end = x + cells
                if end > x1:
                    start, stop = max(x1, x), min(x2, end)
                    piece = _slice(text, cells, start - x, stop - x)
                    yield _codes(self._theme, role, selected, system), y, start, piece, stop - start
                x = end
                if x >= x2:
                    break


def _slice(text: str, cells: int, start: int, end: int) -> str:
    """The cells ``start <= x < end`` of ``text``; a wide character cut in two becomes a space."""
    if start == 0 and end == cells:
        return text
    if len(text) == cells:
        return text[start:end]
    return Segment(text).split_cells(end)[0].split_cells(start)[1].text


_Codes = tuple[str, str, str]
"""SGR codes of a style: attributes, foreground, background; empty where the terminal's own."""

_PLAIN: _Codes = ("", "", "")


@lru_cache(maxsize=256)
def _codes(theme: Theme, role: Role, selected: bool, system: ColorSystem) -> _Codes:
    """The SGR codes of a role in a colour system."""
    look = theme.look(role, selected=selected)
    return (
        _attributes(look),
        _colour_codes(look.colour, system, foreground=True),
        _colour_codes(look.ground, system, foreground=False),
    )


def _attributes(look: Look) -> str:
    """The SGR codes of what is not colour (ECMA-48 8.3.117)."""
    on = (("1", look.bold), ("2", look.dim), ("4", look.underline), ("7", look.reverse))
    return ";".join(code for code, is_on in on if is_on)


def _colour_codes(number: int | None, system: ColorSystem, *, foreground: bool) -> str:
    if number is None:
        return ""
    colour = Color.from_ansi(number).downgrade(system)
    return ";".join(colour.get_ansi_codes(foreground))


@lru_cache(maxsize=1024)
def _change(old: _Codes, new: _Codes) -> str:
    """The shortest SGR sequence from one style to another."""
    if old == new:
        return ""
    drops_attribute = old[0] not in ("", new[0])
    drops_colour = any(before and not after for before, after in zip(old, new, strict=True))
    if drops_attribute or drops_colour:
        codes = ["", *(part for part in new if part)]
    else:
        codes = [after for before, after in zip(old, new, strict=True) if before != after]
    return f"\x1b[{';'.join(codes)}m"
