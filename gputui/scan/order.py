"""Several logs as one: by time where they tell the time, after those with a date where not.

Each log is in order by itself; a rotated set may be named in any order. Only logs that are being
merged are open at a time, however many there are.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from gputui.scan.reader import Located

MOST_OPEN = 32
"""More logs than these are closed after a first look, and opened again when their time comes."""


@dataclass(slots=True)
class _Log:
    """A log whose first event was read. ``rest`` is None while it is closed."""

    position: int
    first: Located
    rest: Iterator[Located] | None


def in_order(opens: Sequence[Callable[[], Iterator[Located]]]) -> Iterator[Located]:
    """The events of all logs in one order. Each of ``opens`` reads a log from its beginning."""
    if len(opens) == 1:
        yield from opens[0]()
        return
    dated: list[_Log] = []
    undated: list[_Log] = []
    for position, read in enumerate(opens):
        events = read()
        first = next(events, None)
        if first is not None:
            log = _Log(position, first, events if len(opens) <= MOST_OPEN else None)
            (dated if first.is_dated else undated).append(log)
    last_s = 0.0
    for one in _merged(dated, opens):
        last_s = max(last_s, one.event.time_s)
        yield one
    for log in undated:
        for one in _whole(log, opens):
            if one.is_dated or not last_s:
                yield one
            else:
                moved = replace(one.event, time_s=last_s + one.event.time_s)
                yield replace(one, event=moved)


def _whole(log: _Log, opens: Sequence[Callable[[], Iterator[Located]]]) -> Iterator[Located]:
    """All of a log, its first event included."""
    if log.rest is None:
        yield from opens[log.position]()
    else:
        yield log.first
        yield from log.rest


def _merged(
    logs: list[_Log], opens: Sequence[Callable[[], Iterator[Located]]]
) -> Iterator[Located]:
    """Logs by time; of those that begin later nothing is read before."""
    logs.sort(key=lambda log: (log.first.event.time_s, log.position))
    heap: list[tuple[float, int, Located, Iterator[Located]]] = []
    waiting = logs[::-1]
    while heap or waiting:
        while waiting and (not heap or waiting[-1].first.event.time_s <= heap[0][0]):
            log = waiting.pop()
            events = _whole(log, opens)
            _push(heap, log.position, events)
        if not heap:
            continue
        _, position, one, events = heapq.heappop(heap)
        yield one
        _push(heap, position, events)


def _push(
    heap: list[tuple[float, int, Located, Iterator[Located]]],
    position: int,
    events: Iterator[Located],
) -> None:
    one = next(events, None)
    if one is not None:
        heapq.heappush(heap, (one.event.time_s, position, one, events))
