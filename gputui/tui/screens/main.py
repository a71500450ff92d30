"""The main screen: keys in, a new view of the same knowledge out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from gputui.tui.frame import Frame, draw
from gputui.tui.glyphs import Glyphs
from gputui.tui.pages import page_of
from gputui.tui.screens.lines import LineScreen
from gputui.tui.screens.page import PageScreen
from gputui.tui.text import Line, clean
from gputui.tui.themes import Theme
from gputui.tui.view import Key, Panel, View
from gputui.tui.watch import Watch

_LONGEST_FILTER = 80


class MainScreen(LineScreen):
    """GPUs, incidents and processes. :mod:`gputui.tui.frame` draws them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "turn(-1)", show=False),
        Binding("pagedown", "turn(1)", show=False),
        Binding("home", "move(-100000)", show=False),
        Binding("end", "move(100000)", show=False),
        Binding("tab", "switch(1)", show=False),
        Binding("shift+tab", "switch(-1)", show=False),
        Binding("enter", "open", show=False),
        Binding("s,f6", "sort", show=False),
        Binding("escape", "clear_filter", show=False),
    ]

    def __init__(self, heard: Watch, theme: Theme, glyphs: Glyphs) -> None:
        super().__init__(heard, theme, glyphs)
        self.view = View()
        self._frame: Frame | None = None

    @property
    def frame(self) -> Frame:
        """The frame that is shown."""
        if self._frame is None:
            self._frame = draw(self.scene(self.view), *self.size)
        return self._frame

    def draw_lines(self, width: int, height: int) -> Sequence[Line]:
        """The frame for what is known now."""
        self._frame = draw(self.scene(self.view), width, height)
        self.view = replace(self.view, offsets=self._frame.offsets)
        return self._frame.lines

    # ------------------------------------------------------------------ choosing

    def action_move(self, rows: int) -> None:
        """Move the cursor within its list, down when positive."""
        panel = self.frame.panel
        order = self.frame.order.get(panel, ())
        if not order:
            return
        position = order.index(self.frame.cursors[panel]) + rows
        self._choose(panel, order[min(max(position, 0), len(order) - 1)])

    def action_turn(self, pages: int) -> None:
        """Move the cursor by as many rows as its list shows."""
        self.action_move(pages * self.frame.page.get(self.frame.panel, 1))

    def action_switch(self, step: int) -> None:
        """Give the cursor to the next list that has rows on the screen."""
        panels = list(Panel)
        start = panels.index(self.frame.panel)
        for distance in range(1, len(panels)):
            panel = panels[(start + step * distance) % len(panels)]
            if self.frame.order.get(panel):
                self.view = replace(self.view, panel=panel)
                break
        self.redraw()

    def _choose(self, panel: Panel, key: Key) -> None:
        self.view = replace(self.view, panel=panel, cursors={**self.view.cursors, panel: key})
        self.redraw()

    def action_open(self) -> None:
        """Open the page of the chosen row."""
        panel = self.frame.panel
        key = self.frame.cursors.get(panel)
        if key is not None:
            page = PageScreen(page_of(panel, key), self.heard, self.look, self.glyphs)
            self.app.push_screen(page)

    # ------------------------------------------------------- sorting and filtering

    def action_sort(self) -> None:
        """Sort the processes by the next column."""
        self.view = replace(self.view, sort=self.view.sort.following)
        self.redraw()

    def action_filter(self) -> None:
        """Begin to type the filter."""
        self.view = replace(self.view, typing=True)
        self.redraw()

    def action_clear_filter(self) -> None:
        """Show all processes again."""
        self._filter("", typing=False)

    def _filter(self, text: str, *, typing: bool) -> None:
        panel = Panel.PROCESSES if text else self.view.panel
        text = text[:_LONGEST_FILTER]
        self.view = replace(self.view, panel=panel, filter_text=text, typing=typing)
        self.redraw()

    def on_key(self, event: events.Key) -> None:
        """While the filter is typed, keys are text.

        Its own key is taken here too, not by a binding: a binding acts only after the keys behind
        it have passed the screen, and ``/train`` may arrive at once.
        """
        if not self.view.typing:
            if event.key in ("slash", "f4"):
                event.stop()
                self.action_filter()
            return
        event.stop()
        text = self.view.filter_text
        if event.key == "enter":
            self._filter(text, typing=False)
        elif event.key == "escape":
            self.action_clear_filter()
        elif event.key in ("backspace", "ctrl+h"):
            self._filter(text[:-1], typing=True)
        elif event.key == "ctrl+u":
            self._filter("", typing=True)
        elif event.is_printable and event.character:
            self._filter(text + event.character, typing=True)

    def on_paste(self, event: events.Paste) -> None:
        """Pasted text goes into the filter while that is typed."""
        if self.view.typing:
            self._filter(self.view.filter_text + clean(event.text.strip()), typing=True)

    # ------------------------------------------------------------------- mouse

    def on_click(self, event: events.Click) -> None:
        """A click chooses a row; a double click opens it."""
        targets = self.frame.targets
        target = targets[event.y] if 0 <= event.y < len(targets) else None
        if target is None:
            return
        self._choose(*target)
        if event.chain == 2:
            self.action_open()

    def on_mouse_scroll_up(self) -> None:
        """The wheel moves the cursor."""
        self.action_move(-1)

    def on_mouse_scroll_down(self) -> None:
        """The wheel moves the cursor."""
        self.action_move(1)
