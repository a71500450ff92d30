"""What the screen may do to a process, and for whom it asks."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gputui.model import ProcessSample

if TYPE_CHECKING:
    from gputui.actions import ActionResult

MEANINGS = {
    signal.SIGTERM: "asks it to end; it may save its work first",
    signal.SIGINT: "is what Ctrl-C sends; most programs end in good order",
    signal.SIGKILL: "ends it at once; what it has not saved is lost",
}
"""What each signal that may be sent means to whoever gets it."""


@dataclass(frozen=True, slots=True)
class Acting:
    """``allowed`` is what the command line or the config say; ``is_here``: on this machine, now."""

    allowed: bool = False
    is_here: bool = True

    def end(self, process: ProcessSample, number: signal.Signals) -> ActionResult:
        """Send the signal, if it may be sent, to the very process that was shown."""
        from gputui.actions import end_process  # only when somebody wants it

        return end_process(process, number, allowed=self.allowed, is_here=self.is_here)
