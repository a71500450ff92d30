"""Waiting, in real time, until programs rest."""

from __future__ import annotations

import time
from collections.abc import Callable

_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.001, 0.01
_PATIENCE_S = 0.5
_WORKS_S = 1.0


class Rest:
    """One wait for programs that work. ``pause_s`` is how long not to look whether they do; a call
    of theirs ends that.
    """

    def __init__(self) -> None:
        self.pause_s = 0.0
        self._began_s = time.monotonic()
        self._worked_s: float | None = None

    def called(self) -> None:
        """One of them called: others may do so at once."""
        self.pause_s = 0.0

    def goes_on(self, worked_s: Callable[[], float]) -> bool:
        """They still work; whether somebody has done so for so long that he may well be waiting.

        Some wait for what they have started by looking again and again. That is reckoned by the
        time that programs had a processor (``worked_s``), which is the same on a machine that does
        other things too.
        """
        self.pause_s = min(max(2 * self.pause_s, _FIRST_PAUSE_S), _LONGEST_PAUSE_S)
        if time.monotonic() - self._began_s < _PATIENCE_S:
            return False
        now_s = worked_s()
        if self._worked_s is None or now_s < self._worked_s:
            self._worked_s = now_s
        if now_s - self._worked_s < _WORKS_S:
            return False
        self._worked_s = now_s
        return True
