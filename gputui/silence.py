"""When no sample comes: for how long, and who is suspected."""

from __future__ import annotations

from dataclasses import dataclass

DRIVER = -1
"""Stands for the driver as a whole where a GPU's index would."""


def patience_s(interval_s: float) -> float:
    """How late a call, or a sample, may be before it is said: three intervals, at least 3 s."""
    return max(3.0, 3 * interval_s)


@dataclass(frozen=True, slots=True)
class Hang:
    """A call that does not return.

    ``asked`` is whom it was to: a GPU's index, or ``DRIVER``. ``whole_driver`` says that another
    process, which left that GPU alone, hangs as well. ``since_s`` is when it began, on the
    monotonic clock.
    """

    asked: int
    since_s: float
    whole_driver: bool = False


@dataclass(frozen=True, slots=True)
class Silence:
    """No sample has come for ``waited_s``; ``asked`` is who is suspected, where that is known.

    It is a GPU's index, ``DRIVER`` for a call that concerns all, or None. ``whole_driver`` is as in
    :class:`Hang`. ``elsewhere`` says that the samples come from another machine.
    """

    waited_s: float
    asked: int | None = None
    whole_driver: bool = False
    elsewhere: bool = False

    @property
    def gpu(self) -> int | None:
        """The index of the GPU that is suspected."""
        return None if self.asked == DRIVER else self.asked

    @property
    def text(self) -> str:
        """What is so, in one clause."""
        waited = f"no answer for {self.waited_s:.0f} s"
        if self.asked is None:
            return waited
        if self.gpu is None:
            return f"the driver does not return from a call ({waited})"
        if self.whole_driver:
            return f"the driver hangs since a call to GPU {self.gpu} ({waited})"
        return f"a call to GPU {self.gpu} does not return ({waited})"
