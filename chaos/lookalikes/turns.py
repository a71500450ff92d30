"""A function that can wait in the middle, in a program that must not.

The simulator has one loop, and a world that only one thread may touch. A look-alike's function may
wait (for the run's clock, for input), so it runs in a thread of its own; but only while the loop
stands still and waits for it. So the two take turns, and nothing needs a lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class TurnEndedError(BaseException):
    """Raised in a function that is not to go on. Not an Exception: nobody is to handle it."""


class Turns:
    """A function in a thread that runs only between :meth:`resume` and its next :meth:`pause`."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self._theirs, self._ours = threading.Lock(), threading.Lock()
        self._theirs.acquire()
        self._ours.acquire()
        self._ending = False
        self.ended = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def resume(self) -> None:
        """Let the function run until it pauses or ends."""
        self._theirs.release()
        self._ours.acquire()
        if self.ended:
            self._thread.join()

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
        self._theirs.acquire()
        try:
            if not self._ending:
                self._function()
        except TurnEndedError:
            pass
        finally:
            self.ended = True
            self._ours.release()
