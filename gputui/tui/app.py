"""The screen as a program: the monitor's snapshots in, a terminal out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from time import monotonic
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from gputui.model import Snapshot
from gputui.tui.acting import Acting
from gputui.tui.driver import TerminalDriver
from gputui.tui.glyphs import Glyphs
from gputui.tui.opening import Opening
from gputui.tui.pages.help import help_page
from gputui.tui.pulse import Pulse
from gputui.tui.screens.lines import LineScreen
from gputui.tui.screens.main import MainScreen
from gputui.tui.screens.page import PageScreen
from gputui.tui.source import SnapshotSource
from gputui.tui.themes import Theme
from gputui.tui.watch import Watch


class MonitorApp(App[None]):
    """Owns what has been heard, and passes on when something has.

    It takes over the picture, and the snapshots, of an ``opening``, if there was one.
    """

    CSS_PATH = "gputui.tcss"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c,ctrl+q", "quit", priority=True, show=False),
        Binding("q,f10", "quit", show=False),
        Binding("ctrl+z", "suspend_process", show=False),
        Binding("ctrl+l", "draw_anew", show=False),
        Binding("space", "hold", show=False),
        Binding("question_mark,h,f1", "help", show=False),
    ]

    def __init__(
        self,
        source: SnapshotSource,
        theme: Theme,
        glyphs: Glyphs,
        opening: Opening | None = None,
        acting: Acting | None = None,
    ) -> None:
        super().__init__(driver_class=TerminalDriver, ansi_color=True)
        self.animation_level = "none"
        self._opening = opening
        self._acting = acting or Acting()
        self._source = source
        self._look = theme
        self._glyphs = glyphs
        self._heard = Watch(monotonic())
        self._pulse: Pulse | None = None

    def get_default_screen(self) -> MainScreen:
        """The main screen."""
        return MainScreen(self._heard, self._look, self._glyphs, self._source, self._acting)

    def on_mount(self) -> None:
        """Begin to listen, to the monitor and to those who ask the program to end."""
        self.app_resume_signal.subscribe(self, lambda _: self.screen.refresh())
        self._pulse = Pulse(self._show)
        if self._opening is None:
            self._source.start(self._pulse.offer)
            return
        loop = asyncio.get_running_loop()
        departure = self._opening.departure
        departure.obey = lambda: _soon(loop, self.exit)
        if departure.told:
            self.exit()
        known = self._opening.snapshot
        if known is not None:
            self._heard.hear(known, monotonic())
        self._opening.pass_on(self._pulse.offer, known)

    def take_over(self) -> bool:
        """Have the terminal from whoever drew on it; whether there is a picture to keep."""
        return self._opening is not None and self._opening.hand_over()

    def on_unmount(self) -> None:
        """Draw nothing more."""
        if self._pulse is not None:
            self._pulse.stop()

    def _show(self, snapshot: Snapshot | None) -> None:
        """Take a snapshot in, if there is one, and draw what is known by now."""
        try:
            if snapshot is not None:
                self._heard.hear(snapshot, monotonic())
            if isinstance(self.screen, LineScreen):
                self.screen.redraw()
        except Exception as error:
            self._handle_exception(error)

    def action_draw_anew(self) -> None:
        """Draw every cell: something else may have written on the terminal."""
        self.screen.refresh()

    def action_hold(self) -> None:
        """Hold the picture still, or let it go on."""
        self._heard.hold(monotonic())
        self._show(None)

    def action_help(self) -> None:
        """Open the page of keys and words, once."""
        if isinstance(self.screen, MainScreen):
            self.push_screen(PageScreen(help_page, self._heard, self._look, self._glyphs))

    @property
    def failure(self) -> Exception | None:
        """Our own fault that ended the screen, if one did."""
        return self._exception

    def _fatal_error(self) -> None:
        """End on our own fault; :mod:`gputui.tui.run` says what happened, in one sentence."""
        self._close_messages_no_wait()


def _soon(loop: asyncio.AbstractEventLoop, act: Callable[[], None]) -> None:
    """Have the loop do something; nothing if it is closed already."""
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(act)
