"""The screen, from the command to the last character: nothing here needs Textual to be imported."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import traceback
from typing import TYPE_CHECKING

from gputui.exit_codes import BAD_USAGE, UNREADABLE
from gputui.model import Snapshot
from gputui.sources.playback import Playback
from gputui.tui.acting import Acting
from gputui.tui.departure import Departure
from gputui.tui.glyphs import ASCII, UNICODE
from gputui.tui.opening import Opening
from gputui.tui.source import SnapshotSource
from gputui.tui.themes import UnknownThemeError, ascii_for, theme_for

if TYPE_CHECKING:
    from gputui.tui.app import MonitorApp

_FIRST_S = 0.5
"""How long the screen is held back for a first reading that may say that there is no driver."""

_STOP_S = 0.2
"""How long the monitor may take to stop before the program leaves without it."""


class NoReadingError(Exception):
    """The first snapshot says that nothing can be read; the message is the snapshot's."""


def run(
    source: SnapshotSource,
    *,
    theme: str | None = None,
    ascii_only: bool = False,
    needs_reading: bool = False,
    acting: Acting | None = None,
    playback: Playback | None = None,
) -> int:
    """Show the screen until it is left; gives the exit status.

    ``source`` is started here, and stopped when the screen is gone. ``theme`` is a name of
    :data:`gputui.tui.themes.THEMES`, or ``None`` for the one that suits the terminal. With
    ``needs_reading``, a source that says at once that nothing can be read gives no screen, but
    :class:`NoReadingError`. ``acting`` is what may be done to processes: nothing by default.
    ``playback`` is there where the source is a recording.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        source.stop()
        print(
            "gputui: the screen needs a terminal, and standard input or output is none; "
            "--once, --json and --stream work without one",
            file=sys.stderr,
        )
        return BAD_USAGE
    try:
        look = theme_for(theme, os.environ)
    except UnknownThemeError as error:
        source.stop()
        print(f"gputui: {error}", file=sys.stderr)
        return BAD_USAGE
    if theme is not None:
        os.environ.pop("NO_COLOR", None)  # an argument outranks it; Textual reads it by itself
    plain = ascii_only or ascii_for(os.environ) or "utf" not in sys.stdout.encoding.lower()
    glyphs = ASCII if plain else UNICODE
    status = 0
    try:
        departure = Departure(source.stop)
        opening = Opening(
            look,
            glyphs,
            departure,
            lambda one: not (needs_reading and _is_without(one)),
            playback,
        )
        with departure, opening:
            source.start(opening.hear)
            from gputui.tui.app import MonitorApp

            opening.heard.wait(_FIRST_S)
            if needs_reading and opening.snapshot and _is_without(opening.snapshot):
                source.stop()
                raise NoReadingError(opening.snapshot.sample.error)
            app = MonitorApp(source, look, glyphs, opening, acting, playback)
            gc.enable()
            app.run()
        status = _tell_failure(app)
    except (KeyboardInterrupt, SystemExit):
        pass
    _leave(source, status)
    return status


def _is_without(snapshot: Snapshot) -> bool:
    """Whether a snapshot has an error in place of readings."""
    return snapshot.sample.error is not None


def _tell_failure(app: MonitorApp) -> int:
    """Say in one sentence what ended the screen, if it was our fault; the exit status."""
    error = app.failure
    if error is None:
        return 0
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    print(
        f"gputui: the screen failed: {type(error).__name__}: {error}{where}; "
        "this is a fault of gputui, please report it",
        file=sys.stderr,
    )
    return UNREADABLE


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
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
