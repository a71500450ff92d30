"""A page that is read: it scrolls, it stays up to date, Esc closes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from gputui.tui.glyphs import Glyphs
from gputui.tui.pages.writer import PageSource
from gputui.tui.panels.header import header
from gputui.tui.panels.keys import PAGE_KEYS, Keys, key_line
from gputui.tui.screens.lines import LineScreen
from gputui.tui.text import Line, empty
from gputui.tui.themes import Theme
from gputui.tui.watch import Watch


class PageScreen(LineScreen):
    """One page over the main screen.

    ``acts`` are further keys, and what they do; ``keys`` are the last line.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,left,backspace", "back", show=False),
        Binding("up,k", "scroll_lines(-1)", show=False),
        Binding("down,j", "scroll_lines(1)", show=False),
        Binding("pageup,b", "scroll_pages(-1)", show=False),
        Binding("pagedown,space", "scroll_pages(1)", show=False),
        Binding("home", "scroll_lines(-100000)", show=False),
        Binding("end", "scroll_lines(100000)", show=False),
    ]

    def __init__(
        self,
        source: PageSource,
        heard: Watch,
        theme: Theme,
        glyphs: Glyphs,
        *,
        keys: Keys = PAGE_KEYS,
        acts: Mapping[str, Callable[[], None]] | None = None,
    ) -> None:
        super().__init__(heard, theme, glyphs)
        self._source = source
        self._keys = keys
        self._acts = acts or {}
        self._first = 0
        self._body_height = 1

    def draw_lines(self, width: int, height: int) -> Sequence[Line]:
        """Header, as much of the page as fits, keys."""
        scene = self.scene(with_graphs=True)
        page = self._source(scene, width)
        self._body_height = max(height - 2, 1)
        self._first = min(max(self._first, 0), max(len(page) - self._body_height, 0))
        body = page[self._first : self._first + self._body_height]
        cut = len(page) > self._body_height
        where = f"{self._first + 1}-{self._first + len(body)} of {len(page)}" if cut else ""
        lines = [
            header(scene, width),
            *body,
            *[empty(width)] * (self._body_height - len(body)),
            key_line(self._keys, width, where),
        ]
        return lines[:height]

    def on_key(self, event: events.Key) -> None:
        """The page's own keys."""
        act = self._acts.get(event.key)
        if act is not None:
            event.stop()
            act()

    def action_back(self) -> None:
        """Close the page."""
        self.dismiss()

    def action_scroll_lines(self, lines: int) -> None:
        """Move by lines, down when positive."""
        self._first += lines
        self.redraw()

    def action_scroll_pages(self, pages: int) -> None:
        """Move by as much as is in sight, down when positive."""
        self.action_scroll_lines(pages * max(self._body_height - 1, 1))

    def on_mouse_scroll_up(self) -> None:
        """The wheel moves by three lines."""
        self.action_scroll_lines(-3)

    def on_mouse_scroll_down(self) -> None:
        """The wheel moves by three lines."""
        self.action_scroll_lines(3)
