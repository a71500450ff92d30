"""Before a process is sent a signal: who it is, what the signal means, and whether it is meant."""

from __future__ import annotations

import signal
from collections.abc import Sequence

from textual import events

from gputui.model import ProcessSample
from gputui.tui.acting import MEANINGS, Acting
from gputui.tui.glyphs import Glyphs
from gputui.tui.pages.process import describe
from gputui.tui.pages.writer import Writer
from gputui.tui.panels.header import header
from gputui.tui.panels.keys import Keys, key_line
from gputui.tui.roles import Role
from gputui.tui.screens.lines import LineScreen
from gputui.tui.text import Line, Run, empty
from gputui.tui.themes import Theme
from gputui.tui.watch import Watch

SIGNAL_KEYS = {
    "T": signal.SIGTERM,
    "f9": signal.SIGTERM,
    "K": signal.SIGKILL,
    "I": signal.SIGINT,
}
"""Which key asks for which signal: nvitop's letters, and nvtop's function key."""

_ASK: Keys = (
    ("y", "send it", 0),
    ("Esc", "leave it alone", 1),
    ("T", "SIGTERM", 2),
    ("K", "SIGKILL", 3),
    ("I", "SIGINT", 4),
)
_DONE: Keys = (("Esc", "back", 0),)


class EndingScreen(LineScreen):
    """Asks once. Only ``y`` sends; what became of it stays to be read."""

    def __init__(
        self,
        process: ProcessSample,
        number: signal.Signals,
        acting: Acting,
        heard: Watch,
        theme: Theme,
        glyphs: Glyphs,
    ) -> None:
        super().__init__(heard, theme, glyphs)
        self._process = process
        self._number = number
        self._acting = acting
        self._said = "" if acting.allowed else acting.end(process, number).text

    def draw_lines(self, width: int, height: int) -> Sequence[Line]:
        """The question, or the answer, above all that is known of the process."""
        scene = self.scene()
        writer = Writer(width)
        writer.blank()
        if self._said:
            writer.paragraph(self._said, Role.WARNING)
        else:
            question = f"Send {self._number.name} to process {self._process.pid}?"
            writer.line(Run(question, Role.WARNING))
            writer.paragraph(f"{self._number.name} {MEANINGS[self._number]}.")
        writer.blank()
        describe(writer, self._process)
        body = writer.page[: height - 2]
        return [
            header(scene, width),
            *body,
            *[empty(width)] * (height - 2 - len(body)),
            key_line(_DONE if self._said else _ASK, width),
        ]

    def on_key(self, event: events.Key) -> None:
        """``y`` sends, other signals' keys change what is asked, Esc leaves."""
        if event.key in ("escape", "n", "left", "backspace"):
            event.stop()
            self.dismiss()
        elif self._said:
            return
        elif event.key == "y":
            event.stop()
            self._said = self._acting.end(self._process, self._number).text
            self.redraw()
        elif event.key in SIGNAL_KEYS:
            event.stop()
            self._number = SIGNAL_KEYS[event.key]
            self.redraw()
