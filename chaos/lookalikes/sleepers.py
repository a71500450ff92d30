"""Programs that wait by the run's clock without calling a command: they sleep, or set an alarm.

The library that is preloaded into them (chaos/sandbox/clock.c) asks for it. A thread that sleeps
has a connection, and hears on it when its time has come; an alarm is a process's, and outlives the
program that set it (execve(2)).
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import struct
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from fakes.nvml.answer import FOREVER_US

_Who = TypeVar("_Who", bound=Hashable)

_SLEEP = struct.Struct("=qq")
_ALARM = struct.Struct("=qq")
_US_NS = 1000
_ONLY_ASKS = -1

_SHORTEST_US = ((1_000, 1_000_000), (300, 100_000), (50, 10_000), (0, 1_000))
"""After how many sleeps of a process the next ones take at least so long: a program that looks ever
so often, for minutes of the run, comes to its end."""


def sleep_of(content: bytes) -> tuple[int, int]:
    """For how long a thread wants to sleep, in microseconds, and its number; a ``struct.error`` if
    it says something else.
    """
    for_ns, thread = _SLEEP.unpack(content)
    return _microseconds(for_ns), thread


@dataclass(slots=True)
class _Alarm:
    """A signal that a process is to get: when, and how often again (0: once)."""

    pidfd: int
    due_us: int
    every_us: int


class Sleepers(Generic[_Who]):
    """Who sleeps, until when; and the alarms that are set."""

    def __init__(self) -> None:
        self._until_us: dict[_Who, int] = {}
        self._slept: Counter[int] = Counter()
        self._alarms: dict[int, _Alarm] = {}
        self._selector: selectors.BaseSelector | None = None

    def serve(self, selector: selectors.BaseSelector | None) -> None:
        """Be served by ``selector``, or no longer: then no alarm is left."""
        if selector is None:
            for pid in tuple(self._alarms):
                self._drop(pid)
        self._selector = selector

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._until_us) + len(self._alarms)

    def next_due_us(self) -> int:
        """When the next one's time has come; ``FOREVER_US`` if nobody waits."""
        alarms_us = (alarm.due_us for alarm in self._alarms.values())
        return min((*self._until_us.values(), *alarms_us), default=FOREVER_US)

    def sleep(self, who: _Who, pid: int, now_us: int, for_us: int) -> None:
        """A thread of a process sleeps."""
        self._slept[pid] += 1
        shortest_us = next(us for slept, us in _SHORTEST_US if self._slept[pid] > slept)
        self._until_us[who] = min(now_us + max(for_us, shortest_us), FOREVER_US)

    def forget(self, who: _Who) -> None:
        """It does not sleep any more."""
        self._until_us.pop(who, None)

    def woken(self, at_us: int) -> list[_Who]:
        """Those whose time has come, in the order in which they asked."""
        woken = [who for who, until_us in self._until_us.items() if until_us <= at_us]
        for who in woken:
            del self._until_us[who]
        return woken

    def alarms_due(self, at_us: int) -> list[Callable[[], bool]]:
        """What sends their signals to those whose alarm is due."""
        due = [(pid, alarm) for pid, alarm in self._alarms.items() if alarm.due_us <= at_us]
        for _, alarm in due:
            alarm.due_us = alarm.due_us + alarm.every_us if alarm.every_us else FOREVER_US
        return [partial(self._go_off, pid, alarm) for pid, alarm in due]

    def set_alarm(self, pid: int, now_us: int, content: bytes) -> bytes:
        """A process sets its alarm, puts it off (0), or only asks; what it had before."""
        first_ns, every_ns = _ALARM.unpack(content)
        known = self._alarms.get(pid)
        before = (0, 0) if known is None else (known.due_us - now_us, known.every_us)
        if first_ns != _ONLY_ASKS:
            self._drop(pid)
            if first_ns > 0:
                self._add(pid, now_us + _microseconds(first_ns), _microseconds(every_ns))
        return _ALARM.pack(before[0] * _US_NS, before[1] * _US_NS)

    def _add(self, pid: int, due_us: int, every_us: int) -> None:
        try:
            pidfd = os.pidfd_open(pid)
        except OSError:
            return  # it has ended meanwhile
        self._alarms[pid] = _Alarm(pidfd, due_us, every_us)
        if self._selector is not None:
            self._selector.register(pidfd, selectors.EVENT_READ, partial(self._drop, pid))

    def _go_off(self, pid: int, alarm: _Alarm) -> bool:
        if self._alarms.get(pid) is not alarm:
            return False  # it was taken back at the last moment
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(alarm.pidfd, signal.SIGALRM)
        if not alarm.every_us:
            self._drop(pid)
        return True

    def _drop(self, pid: int) -> None:
        alarm = self._alarms.pop(pid, None)
        if alarm is not None:
            if self._selector is not None:
                self._selector.unregister(alarm.pidfd)
            os.close(alarm.pidfd)


def _microseconds(ns: int) -> int:
    """Rounded up: nobody wakes too early."""
    return -(-ns // _US_NS)
