"""Whose turn it is, where a run's clock stands while anybody on a node works.

What several processes do at one moment of the run, a machine does in an order of its own, or at
the same time. So that it is the same at every run, whoever may go on waits here, and goes on alone:
the next one not before everybody rests again. Processes and threads that were just started wait
too, for those that started them have not come to rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from chaos.lookalikes.lineage import lineage

Step = Callable[[], bool]
"""Lets somebody go on; whether anybody did."""

_Thing = TypeVar("_Thing")


class Place(NamedTuple):
    """Who somebody is: a process as we see it, and a thread of it as the node does (0: whichever).

    Where there are calls, their words come first.
    """

    pid: int
    thread: int = 0
    words: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[object, ...]:
        """What puts those of one moment in the same order at every run."""
        return (self.words, lineage(self.pid), self.thread)


class WaitingLine:
    """The line of one node. Steps are taken only when everybody rests."""

    def __init__(self) -> None:
        self._line: deque[Step] = deque()
        self._came: list[tuple[Place, Step]] = []
        self._born: list[tuple[Place, Step]] = []

    def add(self, step: Step) -> None:
        """Stand at the end, behind all who were added before."""
        self._line.append(step)

    def come(self, place: Place, step: Step) -> None:
        """Somebody asks for something: who else does so before all rest is of the same moment."""
        self._came.append((place, step))

    def be_born(self, place: Place, step: Step) -> None:
        """A process or a thread is new: all others go first."""
        self._born.append((place, step))

    def take(self) -> bool:
        """Let the next one go on, and nobody else; whether there was one."""
        self._line += in_order(self._came)
        self._came.clear()
        while self._line:
            if self._line.popleft()():
                return True
        return self.take_born()

    def take_born(self) -> bool:
        """The same for the next new one."""
        while self._born:
            first = min(self._born, key=lambda one: one[0].key) if self._born[1:] else self._born[0]
            self._born.remove(first)
            if first[1]():
                return True
        return False


def in_order(came: Sequence[tuple[Place, _Thing]]) -> list[_Thing]:
    """What belongs to those who came at one moment, in the same order at every run."""
    if len(came) > 1:
        came = sorted(came, key=lambda one: one[0].key)
    return [thing for _, thing in came]
