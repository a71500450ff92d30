"""A function that can wait in the middle, in a program that must not.

The simulator has one loop, and a world that only one thread may touch. A look-alike's function may
wait (for the run's clock, for input), so it runs in a thread of its own; but only while the loop
stands still and waits for it. So the two take turns, and nothing needs a lock.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

_MOST_IDLE = 8


class TurnEndedError(BaseException):
    """Raised in a function that is not to go on. Not an Exception: nobody is to handle it."""


class _Worker:
    """A thread that runs one function after another: a new one takes as long as a short call."""

    def __init__(self) -> None:
        self._given = threading.Lock()
        self._given.acquire()
        self._function: Callable[[], None] | None = None
        threading.Thread(target=self._serve, daemon=True).start()

    def give(self, function: Callable[[], None]) -> None:
        """Let it run a function. It is idle, or was just made."""
        self._function = function
        self._given.release()

    def _serve(self) -> None:
        while self._given.acquire() and self._function is not None:
            self._function()
            self._function = None
            if len(_idle) >= _MOST_IDLE:
                return
            _idle.append(self)


_idle: list[_Worker] = []
os.register_at_fork(after_in_child=_idle.clear)  # a child has none of its parent's threads


class Turns:
    """A function in a thread that runs only between :meth:`resume` and its next :meth:`pause`."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._theirs, self._ours = threading.Lock(), threading.Lock()
        self._theirs.acquire()
        self._ours.acquire()
        self._has_begun = False
        self._ending = False
        self.ended = False

    def resume(self) -> None:
        """Let the function run until it pauses or ends."""
        if self._has_begun:
            self._theirs.release()
        else:
            self._has_begun = True
            (_idle.pop() if _idle else _Worker()).give(self._run)
        self._ours.acquire()

    def pause(self) -> None:
        """Called by the function: give the turn back until the next resumption."""
        self._ours.release()
        self._theirs.acquire()
        if self._ending:
            raise TurnEndedError

    def end(self) -> None:
        """Let the function end at the pause that it is in."""
        self._ending = True
        while not self.ended:
            self.resume()

    def _run(self) -> None:
        try:
            if not self._ending:
                self._function()
        except TurnEndedError:
            pass
        finally:
            self.ended = True
            self._ours.release()
