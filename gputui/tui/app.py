"""The screen as a program: the monitor's snapshots in, a terminal out."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from gputui.model import Snapshot
from gputui.sources.playback import Playback
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

    It takes over the picture, and the snapshots, of an ``opening``, if there was one. ``playback``
    is there where what is shown is a recording.
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
        Binding("left_square_bracket", "step(-1)", show=False),
        Binding("right_square_bracket", "step(1)", show=False),
        Binding("left_curly_bracket", "leap(-60)", show=False),
        Binding("right_curly_bracket", "leap(60)", show=False),
        Binding("less_than_sign", "pace(0.5)", show=False),
        Binding("greater_than_sign", "pace(2)", show=False),
        Binding("question_mark,h,f1", "help", show=False),
    ]

    def __init__(
        self,
        source: SnapshotSource,
        theme: Theme,
        glyphs: Glyphs,
        opening: Opening | None = None,
        acting: Acting | None = None,
        playback: Playback | None = None,
    ) -> None:
        super().__init__(driver_class=TerminalDriver, ansi_color=True)
        self.animation_level = "none"
        self._opening = opening
        self._acting = acting or Acting()
        self._source = source
        self._look = theme
        self._glyphs = glyphs
        self._playback = playback
        self._heard = Watch(monotonic(), playback)
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

    def _show(self, snapshots: Sequence[Snapshot]) -> None:
        """Take in what came, and draw what is known by now."""
        try:
            for snapshot in snapshots:
                self._heard.hear(snapshot, monotonic())
            if isinstance(self.screen, LineScreen):
                self.screen.redraw()
        except Exception as error:
            self._handle_exception(error)

    def action_draw_anew(self) -> None:
        """Draw every cell: something else may have written on the terminal."""
        self.screen.refresh()

    # ------------------------------------------------------------------ moving in time

    def action_hold(self) -> None:
        """Hold the picture still, or let it go on; a recording with it."""
        stands = self._heard.is_held
        if self._playback is not None:
            stands = stands or self._playback.state.is_paused
            (self._playback.resume if stands else self._playback.pause)()
            self._heard.go_on()
        elif stands:
            self._heard.go_on()
        else:
            self._heard.hold()
        self._show(())

    def action_step(self, moments: int) -> None:
        """Show the reading before, or the one after."""
        was_held = self._heard.is_held
        if self._playback is None:
            if was_held or moments < 0:
                self._heard.step(moments)
        elif moments > 0 and not was_held:
            self._playback.step()
        else:
            self._playback.pause()
            if not self._heard.step(moments):
                self._beyond(float(moments))
        self._show(())

    def action_leap(self, seconds: float) -> None:
        """Show what was so much earlier, or later."""
        if self._playback is not None:
            self._playback.pause()
        if self._heard.is_held or seconds < 0 or self._playback is not None:
            is_known = self._heard.leap(seconds)
            if not is_known and self._playback is not None:
                self._beyond(seconds)
        self._show(())

    def _beyond(self, seconds: float) -> None:
        """Have a recording go to where it has not been, or to what has been forgotten."""
        if self._playback is not None:
            self._playback.seek(self._playback.state.at_s - self._heard.back_s + seconds)
            self._heard.go_on()

    def action_pace(self, factor: float) -> None:
        """Play a recording faster or slower."""
        if self._playback is not None:
            self._playback.change_speed(factor)
        elif isinstance(self.screen, MainScreen):
            self.screen.say("Only a recording has a speed (--source replay=FILE).")
        self._show(())

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
