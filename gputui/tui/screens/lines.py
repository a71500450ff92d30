"""What all screens have in common: lines on a canvas."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from time import monotonic

from textual.app import ComposeResult
from textual.screen import Screen

from gputui.tui.glyphs import Glyphs
from gputui.tui.scene import Scene
from gputui.tui.text import Line
from gputui.tui.themes import Theme
from gputui.tui.view import View
from gputui.tui.watch import Watch
from gputui.tui.widgets.canvas import Canvas


class LineScreen(Screen[None]):
    """A screen that is one canvas, drawn from what has been heard so far."""

    def __init__(self, heard: Watch, theme: Theme, glyphs: Glyphs) -> None:
        super().__init__()
        self.heard = heard
        self.look = theme
        self.glyphs = glyphs
        self.canvas = Canvas(self.draw_lines, theme, ascii_only=glyphs.ascii_only)

    def compose(self) -> ComposeResult:
        """The canvas alone."""
        yield self.canvas

    def scene(self, view: View | None = None, *, with_graphs: bool = False) -> Scene:
        """What is known now, seen through ``view``."""
        seen = view or View()
        return self.heard.scene(seen, self.glyphs, monotonic(), with_graphs=with_graphs)

    def redraw(self) -> None:
        """Draw anew; only cells that changed reach the terminal."""
        self.canvas.redraw()

    def on_screen_resume(self) -> None:
        """What happened while another screen was on top is shown at once."""
        self.redraw()

    @abstractmethod
    def draw_lines(self, width: int, height: int) -> Sequence[Line]:
        """All lines of the screen in ``width`` x ``height`` cells."""
