"""How a recording is played: where it is, how fast it goes, whether it stands still.

Whoever watches turns these knobs on one thread, the source reads them on another.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

SLOWEST, FASTEST = 0.25, 64.0

LONGEST_PAUSE_S = 5.0
"""A gap in the recording is waited out no longer than this."""


@dataclass(frozen=True, slots=True)
class PlaybackState:
    """``at_s`` of ``end_s`` seconds of the recording (None where its end is not known).

    ``is_moving`` says that it is on its way to another place, which takes a while if that is far.
    """

    at_s: float = 0.0
    end_s: float | None = None
    speed: float = 1.0
    is_paused: bool = False
    is_over: bool = False
    is_moving: bool = False


class Playback:
    """The clock of a recording. Times are seconds since the recording's start."""

    def __init__(self, end_s: float | None = None) -> None:
        self.wake: Callable[[], None] = _nobody
        """Called when a knob was turned: whoever sleeps until the next record is due has to look
        again."""
        self._end_s = end_s
        self._lock = threading.Lock()
        self._speed = 1.0
        self._is_paused = False
        self._is_over = False
        self._steps = 0
        self._owes = False
        self._is_moving = False
        self._shown_s = 0.0
        self._base_s: float | None = None
        self._since_s = 0.0
        self._wanted_s: float | None = None

    # --- for whoever watches ------------------------------------------------------------------

    @property
    def state(self) -> PlaybackState:
        """How things are."""
        with self._lock:
            return PlaybackState(
                at_s=self._shown_s,
                end_s=self._end_s,
                speed=self._speed,
                is_paused=self._is_paused,
                is_over=self._is_over,
                is_moving=self._is_moving,
            )

    def pause(self) -> None:
        """Stand still."""
        with self._lock:
            self._settle()
            self._is_paused = True
        self.wake()

    def resume(self) -> None:
        """Go on."""
        with self._lock:
            self._settle()
            self._is_paused = False
        self.wake()

    def step(self) -> None:
        """Stand still after one more reading."""
        with self._lock:
            self._settle()
            self._is_paused = True
            self._steps += 1
        self.wake()

    def change_speed(self, factor: float) -> None:
        """Go so many times as fast, within bounds."""
        with self._lock:
            self._settle()
            self._speed = min(max(self._speed * factor, SLOWEST), FASTEST)
        self.wake()

    def seek(self, at_s: float) -> None:
        """Go to another place in the recording."""
        with self._lock:
            last = at_s if self._end_s is None else self._end_s
            self._wanted_s = min(max(at_s, 0.0), last)
            self._is_moving = True
            self._steps = 0
        self.wake()

    # --- for the source -----------------------------------------------------------------------

    def take_wanted(self) -> float | None:
        """The place to go to, if another one is wanted; once. A reading is owed then, at the place
        or, where there is none before it, the first one behind it.
        """
        with self._lock:
            wanted, self._wanted_s = self._wanted_s, None
            if wanted is not None:
                self._base_s, self._since_s = wanted, time.monotonic()
                self._is_over, self._owes = False, True
            return wanted

    def is_due(self, t: float, monotonic_s: float, *, is_reading: bool) -> bool:
        """Whether a record of that time is to be given out now; it is taken to be, then."""
        with self._lock:
            if self._base_s is None:
                self._base_s, self._since_s = t, monotonic_s
            is_ahead = t > self._place_s(monotonic_s)
            if is_ahead and not (self._steps or self._owes):
                self._is_moving = self._wanted_s is not None
                return False
            if is_ahead:
                self._base_s, self._since_s = t, monotonic_s
                self._steps -= is_reading and not self._owes
            self._owes = self._owes and not is_reading
            self._shown_s = max(t, 0.0)
            return True

    def wait_s(self, t: float, monotonic_s: float) -> float | None:
        """In how many seconds a record of that time is due; None while time stands still."""
        with self._lock:
            if self._steps or self._owes:
                return 0.0
            if self._is_paused:
                return None
            wait_s = (t - self._place_s(monotonic_s)) / self._speed
            if wait_s > LONGEST_PAUSE_S:
                self._base_s = t - LONGEST_PAUSE_S * self._speed
                self._since_s = monotonic_s
                wait_s = LONGEST_PAUSE_S
            return max(wait_s, 0.0)

    def note_end(self, *, is_over: bool) -> None:
        """Whether the last record has been given out."""
        with self._lock:
            self._is_over = is_over
            self._is_moving = self._is_moving and not is_over

    def _place_s(self, monotonic_s: float) -> float:
        """Where the recording is to be."""
        if self._base_s is None:
            return 0.0
        if self._is_paused:
            return self._base_s
        return self._base_s + max(monotonic_s - self._since_s, 0.0) * self._speed

    def _settle(self) -> None:
        """From here on time runs otherwise."""
        monotonic_s = time.monotonic()
        self._base_s = None if self._base_s is None else self._place_s(monotonic_s)
        self._since_s = monotonic_s


def _nobody() -> None:
    """Nobody sleeps."""
