"""Only the characters that changed reach the terminal.

Textual repaints a widget in five steps, each a message to itself, and sends changed cells from the
widget's left edge, with the whole style set anew for each piece of text. Where a screen is one
canvas and nothing else, the changed spans are sent at once, and only those parts of the style that
differ. With anything else on the screen (a toast), or in a Textual that is made differently,
Textual's own way is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.color import ColorSystem
from textual._compositor import CompositorUpdate

from gputui.tui.escapes import Span, drawn
from gputui.tui.text import Line
from gputui.tui.themes import Theme

if TYPE_CHECKING:
    from rich.console import Console

    from gputui.tui.widgets.canvas import Canvas


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
    """Spans of lines, as Textual wants them."""

    def __init__(self, spans: Sequence[Span], lines: Sequence[Line], theme: Theme) -> None:
        self._spans = spans
        self._lines = lines
        self._theme = theme

    def render_segments(self, console: Console) -> str:
        """The escape sequences that draw the spans."""
        few = console._color_system is ColorSystem.STANDARD
        return drawn(self._spans, self._lines, self._theme, few_colours=few)
