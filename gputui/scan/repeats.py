"""Xids that say again what was said before: counted here, and judged as one.

A broken GPU may repeat itself thousands of times an hour. The first few of a sort are judged one by
one; of those that follow, the engine hears from time to time, with how many there were: of grave
ones so often that it takes them for one failure that goes on. What it hears in the end is the time
of the last, and the count of all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gputui.facts.xid import xid_fact
from gputui.logs.kernel import KernelEvent
from gputui.model import Severity
from gputui.revision import reviser

ONE_BY_ONE = 3
WITHIN_S = 3600.0
GRAVE_WITHIN_S = 150.0
"""Below the time within which grave incidents are one failure (gputui/incidents/failures.py)."""

_LATE = 1.2
"""The next to come may be so much later, and is one with those that waited."""

_MOST_SORTS = 5000

_Sort = tuple[str | None, int | None, str | None, int | None, str]

_BEGINNING = 16
_WORDY = frozenset({63, 64})
_TAKES_BACK, _NOTHING_NEEDED = 154, " to 0x0"
"""Says that a GPU needs nothing any more: what was said of it before is judged before."""

_revised = reviser(KernelEvent)

_NUMBERS = dict.fromkeys(map(ord, "0123456789abcdefx"))


@dataclass(slots=True)
class _Run:
    """How often a sort was handed on one by one, when it last was, and what waits since.

    ``within_s`` is for how long it may wait.
    """

    handed_on: int
    since_s: float
    within_s: float
    waiting: KernelEvent | None = None
    times: int = 0


class Repeats:
    """Gathers the repeats of one machine's log."""

    def __init__(self) -> None:
        self._runs: dict[_Sort, _Run] = {}
        self._waiting: dict[int | None, dict[_Sort, _Run]] = {}

    def add(self, event: KernelEvent) -> Iterable[KernelEvent]:
        """Take in an event; what is to be judged now, in order."""
        if event.kind != "xid":
            return (event,)
        if event.code == _TAKES_BACK and _NOTHING_NEEDED in event.detail:
            return [*self._of_gpu(event.bus_id), event]
        sort = _sort(event)
        run = self._runs.get(sort)
        if run is None:
            found = [*self._make_room(), *self._of_code(event.code), event]
            self._runs[sort] = _Run(
                1, event.time_s, GRAVE_WITHIN_S if _is_grave(event) else WITHIN_S
            )
            return found
        if abs(event.time_s - run.since_s) >= run.within_s:
            return self._hand_on(sort, run, event)
        if run.handed_on < ONE_BY_ONE:
            run.handed_on += 1
            run.since_s = event.time_s
            return [*self._of_code(event.code), event]
        self._wait(sort, run, event)
        return ()

    def due(self, time_s: float) -> list[KernelEvent]:
        """What has waited for long enough, by the log's time."""
        found = []
        for waiting in self._waiting.values():
            for sort, run in list(waiting.items()):
                if time_s - run.since_s >= run.within_s:
                    found += self._take(sort, run)
        return found

    def rest(self) -> list[KernelEvent]:
        """All that waits."""
        return [event for code in list(self._waiting) for event in self._of_code(code)]

    def _wait(self, sort: _Sort, run: _Run, event: KernelEvent) -> None:
        run.waiting = event
        run.times += event.times
        if run.times == event.times:
            self._waiting.setdefault(event.code, {})[sort] = run

    def _take(self, sort: _Sort, run: _Run) -> list[KernelEvent]:
        """What waits of a sort, as one event; afterwards nothing does."""
        event, times = run.waiting, run.times
        if event is None:
            return []
        del self._waiting[event.code][sort]
        run.waiting, run.times, run.since_s = None, 0, event.time_s
        return [event if event.times == times else _revised(event, times=times)]

    def _hand_on(self, sort: _Sort, run: _Run, event: KernelEvent) -> list[KernelEvent]:
        """The time of a run is over: what waited and the new one are one if they are close."""
        is_soon = abs(event.time_s - run.since_s) < _LATE * run.within_s
        if run.waiting is not None and is_soon:
            self._wait(sort, run, event)
            return self._take(sort, run)
        found = [*self._take(sort, run), event]
        run.handed_on, run.since_s = 1, event.time_s
        return found

    def _of_code(self, code: int | None) -> list[KernelEvent]:
        """What waits of a code: with a new one, it may be the Xid of a whole job."""
        waiting = self._waiting.get(code)
        if not waiting:
            return []
        return [event for sort, run in list(waiting.items()) for event in self._take(sort, run)]

    def _of_gpu(self, bus_id: str | None) -> list[KernelEvent]:
        """What waits of a GPU."""
        found = []
        for waiting in self._waiting.values():
            for sort, run in list(waiting.items()):
                if sort[0] == bus_id:
                    found += self._take(sort, run)
        return found

    def _make_room(self) -> list[KernelEvent]:
        """Forget the sort that was first heard first, when there are too many."""
        if len(self._runs) < _MOST_SORTS:
            return []
        sort = next(iter(self._runs))
        return self._take(sort, self._runs.pop(sort))


def _is_grave(event: KernelEvent) -> bool:
    """Whether an Xid is likely to be a failure of its GPU."""
    return xid_fact(event.code or 0).severity is Severity.CRITICAL or "RST: Yes" in event.detail


def _sort(event: KernelEvent) -> _Sort:
    """What Xids have in common that say the same of the same GPU.

    How the text begins says what it is about; a few codes have texts of different meanings.
    """
    detail, code = event.detail, event.code
    if code in _WORDY or "RST: " in detail:
        return event.bus_id, code, event.process, event.caused_by, detail.translate(_NUMBERS)
    return (
        event.bus_id,
        code,
        event.process,
        event.caused_by,
        detail[:_BEGINNING].translate(_NUMBERS),
    )
