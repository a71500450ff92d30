"""The screen as a program: the monitor's snapshots in, a terminal out."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from time import monotonic
from typing import ClassVar, Protocol

from textual.app import App
from textual.binding import Binding, BindingType

from gputui.model import Snapshot
from gputui.tui.driver import TerminalDriver
from gputui.tui.glyphs import ASCII, UNICODE, Glyphs
from gputui.tui.pages import help_page
from gputui.tui.pulse import Pulse
from gputui.tui.screens.lines import LineScreen
from gputui.tui.screens.main import MainScreen
from gputui.tui.screens.page import PageScreen
from gputui.tui.themes import Theme, UnknownThemeError, ascii_for, theme_for
from gputui.tui.watch import Watch

_STOP_S = 0.2
"""How long the monitor may take to stop before the program leaves without it."""

_BAD_USAGE = 64
_OWN_FAULT = 2


class SnapshotSource(Protocol):
    """The part of the monitor that the screen needs."""

    def start(self, on_snapshot: Callable[[Snapshot], None]) -> None:
        """Begin to deliver snapshots, from a thread of its own."""

    def stop(self) -> None:
        """End it."""


class MonitorApp(App[None]):
    """Owns what has been heard, and passes on when something has."""

    CSS_PATH = "gputui.tcss"
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c,ctrl+q", "quit", priority=True, show=False),
        Binding("q,f10", "quit", show=False),
        Binding("ctrl+z", "suspend_process", show=False),
        Binding("question_mark,h,f1", "help", show=False),
    ]

    def __init__(self, source: SnapshotSource, theme: Theme, glyphs: Glyphs) -> None:
        super().__init__(driver_class=TerminalDriver, ansi_color=True)
        self.animation_level = "none"
        self._source = source
        self._look = theme
        self._glyphs = glyphs
        self._heard = Watch(monotonic())
        self._pulse: Pulse | None = None

    def get_default_screen(self) -> MainScreen:
        """The main screen."""
        return MainScreen(self._heard, self._look, self._glyphs)

    def on_mount(self) -> None:
        """Begin to listen, to the monitor and to those who ask the program to end."""
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            for ending in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(ending, self.exit)
        self.app_resume_signal.subscribe(self, lambda _: self.screen.refresh())
        self._pulse = Pulse(self._show)
        self._source.start(self._pulse.offer)

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

    def action_help(self) -> None:
        """Open the page of keys and words, once."""
        if isinstance(self.screen, MainScreen):
            self.push_screen(PageScreen(help_page, self._heard, self._look, self._glyphs))

    def _fatal_error(self) -> None:
        """End on our own fault; :func:`run` says what happened, in one sentence."""
        self._close_messages_no_wait()


def run(source: SnapshotSource, *, theme: str | None = None, ascii_only: bool = False) -> int:
    """Show the screen until it is left; gives the exit status.

    ``source`` is started when the screen is up and stopped when it is gone. ``theme`` is a name of
    :data:`gputui.tui.themes.THEMES`, or ``None`` for the one that suits the terminal.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        source.stop()
        print(
            "gputui: the screen needs a terminal, and standard input or output is none; "
            "--once, --json and --stream work without one",
            file=sys.stderr,
        )
        return _BAD_USAGE
    try:
        look = theme_for(theme, os.environ)
    except UnknownThemeError as error:
        source.stop()
        print(f"gputui: {error}", file=sys.stderr)
        return _BAD_USAGE
    if theme is not None:
        os.environ.pop("NO_COLOR", None)  # an argument outranks it; Textual reads it by itself
    plain = ascii_only or ascii_for(os.environ) or "utf" not in sys.stdout.encoding.lower()
    app = MonitorApp(source, look, ASCII if plain else UNICODE)
    with contextlib.suppress(KeyboardInterrupt):
        app.run()
    status = _tell_failure(app)
    _leave(source, status)
    return status


def _tell_failure(app: MonitorApp) -> int:
    """Say in one sentence what ended the screen, if it was our fault; the exit status."""
    error = app._exception
    if error is None:
        return 0
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    print(
        f"gputui: the screen failed: {type(error).__name__}: {error}{where}; "
        "this is a fault of gputui, please report it",
        file=sys.stderr,
    )
    return _OWN_FAULT


def _leave(source: SnapshotSource, status: int) -> None:
    """Stop the monitor, but do not wait for one that is stuck.

    Where some other thread would keep the interpreter from ending, the process ends here: the
    terminal is restored by now.
    """
    gc.freeze()  # nothing is collected while the interpreter ends: that takes a tenth of a second
    stopper = threading.Thread(target=source.stop, daemon=True)
    stopper.start()
    stopper.join(_STOP_S)
    others = (t for t in threading.enumerate() if t is not threading.main_thread())
    if any(not thread.daemon for thread in others):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
