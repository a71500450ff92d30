"""When to draw: as soon as there is a snapshot, and once a second while there is none."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Sequence
from contextvars import copy_context

from gputui.model import Snapshot

_SECOND_S = 1.0
_LATE_S = 1.2
"""Ages count also when nothing arrives: what is shown is drawn anew a second after it was drawn for
its age alone, and this long after a snapshot, since the next one usually comes a second later."""


_MOST_WAITING = 4000
"""More than come in the time that one picture takes, also from a recording that is run through."""


class Pulse:
    """Calls ``draw`` on the running event loop, with the snapshots that came, none for ages alone.

    All that came meanwhile come together, and are drawn once.

    It uses the loop itself: a callback takes a tenth of the time that a message of Textual's takes.
    """

    def __init__(self, draw: Callable[[Sequence[Snapshot]], None]) -> None:
        self._draw = draw
        self._loop = asyncio.get_running_loop()
        self._context = copy_context()
        self._waiting: deque[Snapshot] = deque(maxlen=_MOST_WAITING)
        self._due_s = self._loop.time() + _SECOND_S
        self._timer = self._loop.call_at(self._due_s, self._tick)

    def offer(self, snapshot: Snapshot) -> None:
        """Have a snapshot drawn, unless newer ones come first. May be called on any thread."""
        self._waiting.append(snapshot)
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._take, context=self._context)

    def stop(self) -> None:
        """Draw nothing more."""
        self._timer.cancel()
        self._draw = lambda _: None

    def _take(self) -> None:
        came: list[Snapshot] = []
        while self._waiting:
            came.append(self._waiting.popleft())
        if came:
            self._due_s = self._loop.time() + _LATE_S
            self._draw(came)

    def _tick(self) -> None:
        """The timer is not moved at every snapshot: it looks when it is due, and sleeps again."""
        now_s = self._loop.time()
        if now_s >= self._due_s:
            self._due_s = now_s + _SECOND_S
            self._draw(())
        self._timer = self._loop.call_at(self._due_s, self._tick)
