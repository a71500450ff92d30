"""Xids that say again what was said before: counted here, and judged as one.

A broken GPU may repeat itself thousands of times an hour. The first few of a sort are judged one by
one; of those that follow, the engine hears from time to time, with how many there were. It hears
more often than the shortest time of quiet after which an incident is over (ten minutes).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gputui.logs.kernel import KernelEvent

ONE_BY_ONE = 3
WITHIN_S = 540.0
_MOST_SORTS = 5000

_Sort = tuple[str | None, int | None, str | None, int | None, str]

_NUMBERS = dict.fromkeys(map(ord, "0123456789abcdefx"))


@dataclass(slots=True)
class _Run:
    """How often a sort was handed on one by one, when it last was, and what waits since."""

    handed_on: int
    since_s: float
    waiting: KernelEvent | None = None
    times: int = 0

    def take(self) -> KernelEvent | None:
        """What waits, as one event; afterwards nothing does."""
        event, times = self.waiting, self.times
        self.waiting, self.times = None, 0
        return replace(event, times=times) if event is not None and times > 1 else event


class Repeats:
    """Gathers the repeats of one machine's log."""

    def __init__(self) -> None:
        self._runs: dict[_Sort, _Run] = {}

    def add(self, event: KernelEvent) -> Iterator[KernelEvent]:
        """Take in an event; what is to be judged now, in order."""
        if event.kind != "xid":
            yield event
            return
        sort = _sort(event)
        run = self._runs.get(sort)
        if run is None:
            yield from self._make_room()
            yield from self._of_code(event.code)
            self._runs[sort] = _Run(1, event.time_s)
            yield event
            return
        if abs(event.time_s - run.since_s) >= WITHIN_S:
            yield from self._hand_on(run, event)
        elif run.handed_on < ONE_BY_ONE:
            yield from self._of_code(event.code)
            run.handed_on += 1
            run.since_s = event.time_s
            yield event
        else:
            run.waiting = event
            run.times += 1

    def due(self, time_s: float) -> Iterator[KernelEvent]:
        """What has waited for long enough, by the log's time."""
        for run in self._runs.values():
            if run.waiting is not None and time_s - run.since_s >= WITHIN_S:
                run.since_s = run.waiting.time_s
                yield from _taken(run)

    def rest(self) -> Iterator[KernelEvent]:
        """All that waits."""
        for run in self._runs.values():
            yield from _taken(run)

    def _hand_on(self, run: _Run, event: KernelEvent) -> Iterator[KernelEvent]:
        """The time of a run is over: what waited and the new one are one if they are close."""
        waiting = run.waiting
        if waiting is not None and abs(event.time_s - waiting.time_s) < WITHIN_S:
            run.waiting = event
            run.times += 1
            yield from _taken(run)
        else:
            yield from _taken(run)
            run.handed_on = 1
            yield event
        run.since_s = event.time_s

    def _of_code(self, code: int | None) -> Iterator[KernelEvent]:
        """What waits of a code: with a new one, it may be the Xid of a whole job."""
        for (_, other, *_), run in self._runs.items():
            if other == code and run.waiting is not None:
                run.since_s = run.waiting.time_s
                yield from _taken(run)

    def _make_room(self) -> Iterator[KernelEvent]:
        if len(self._runs) >= _MOST_SORTS:
            yield from _taken(self._runs.pop(next(iter(self._runs))))


def _taken(run: _Run) -> Iterator[KernelEvent]:
    event = run.take()
    if event is not None:
        yield event


def _sort(event: KernelEvent) -> _Sort:
    """What Xids have in common that say the same of the same GPU: all but the numbers."""
    words = event.detail.translate(_NUMBERS)
    return event.bus_id, event.code, event.process, event.caused_by, words
