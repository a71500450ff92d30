"""When real processes have nothing to do until time passes.

A clock that jumps may do so only when everybody waits: every thread of every process on the nodes
is asleep, and has not been given a processor between two looks. Then there was a moment, between
the two, at which all of them slept; and nobody was left to wake them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from chaos.virtual.proc_files import ProcFiles
from chaos.virtual.timed_waits import wakes_by_itself

_ASLEEP = frozenset("SZTtXI")
"""States of /proc/PID/stat in which a thread does nothing (proc(5))."""
_GONE = frozenset("ZX")
_MOST_LOOKED_AT = 2000
"""So many threads are not looked at one by one."""
_THREADS_FIELD = 17
"""How many threads a process has, counted in /proc/PID/stat from its state."""
_TICKS_FIELDS = slice(11, 13)
"""How long a process has had a processor, in its own code and in the kernel's."""
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_FIRST_PROCESS = "1"

Look = tuple[tuple[str, str, int], ...]
"""Each thread: its PID, its state, and how often it was given a processor."""


class Barrier:
    """Looks at the processes of a node, by its own /proc.

    ``idlers`` are the PIDs of those that do nothing but live, and end: a job's ranks, services.
    """

    def __init__(self, proc: Path, idlers: Callable[[], tuple[int, ...]]) -> None:
        self._proc = str(proc)
        self._idlers = idlers
        self._known: tuple[int, ...] = ()
        self._not_looked_at = frozenset({_FIRST_PROCESS})
        self._files = ProcFiles()

    def close(self) -> None:
        """Look no more."""
        self._files.close()

    @property
    def somebody_wakes_by_itself(self) -> bool:
        """Whether somebody sleeps with a timeout of this machine's clock."""
        proc = Path(self._proc)
        return any(wakes_by_itself(proc, pid) for pid, _, _ in self.look())

    def look(self) -> Look:
        """Every thread that may be doing something; of very many, some."""
        return tuple(sorted(islice(self._threads(), _MOST_LOOKED_AT)))

    def forget_ended(self) -> None:
        """Keep nothing of those that were not looked at since this was last called."""
        self._files.forget_unused()

    def idlers_rest(self) -> bool:
        """Whether those do nothing who idle anyway: none of them was killed just now, say.

        The first process hears of whoever ends, and tells it.
        """
        states = (self._fields(f"{self._proc}/{pid}")[:1] for pid in self._idling())
        return all(state[0] in _ASLEEP for state in states if state)

    def worked_s(self) -> float:
        """How long its processes have had a processor, those that live now."""
        ticks = 0
        for pid in self._pids():
            fields = self._fields(f"{self._proc}/{pid}")
            ticks += sum(map(int, fields[_TICKS_FIELDS])) if fields else 0
        return ticks / _TICKS_PER_S

    def commands(self) -> list[list[str]]:
        """The command lines of those that live, in order: the same at every run."""
        return sorted(
            [os.fsdecode(word) for word in _read(f"{self._proc}/{pid}/cmdline").split(b"\0")[:-1]]
            for pid in self._living()
        )

    def count(self) -> int:
        """How many processes there are."""
        return len(self._pids())

    def _living(self) -> list[str]:
        """The PIDs of the processes that have not ended."""
        pids = []
        for pid in self._pids():
            fields = self._fields(f"{self._proc}/{pid}")
            if fields and fields[0] not in _GONE:
                pids.append(pid)
        return pids

    def _idling(self) -> frozenset[str]:
        """The PIDs of the idlers, and of the node's first process."""
        idlers = self._idlers()
        if idlers != self._known:
            self._known = idlers
            self._not_looked_at = frozenset({_FIRST_PROCESS, *map(str, idlers)})
        return self._not_looked_at

    def _pids(self) -> list[str]:
        """The PIDs of all others; none if the node's first process has ended, for they have too."""
        idling = self._idling()
        return [name for name in _names(self._proc) if name.isdecimal() and name not in idling]

    def _threads(self) -> Iterator[tuple[str, str, int]]:
        for pid in self._pids():
            place = f"{self._proc}/{pid}"
            fields = self._fields(place)
            if not fields:
                continue  # it ended meanwhile
            if fields[_THREADS_FIELD] == "1":
                yield pid, fields[0], self._turns(place)
                continue
            for thread in _names(f"{place}/task"):
                own = self._fields(f"{place}/task/{thread}")
                turns = self._turns(f"{place}/task/{thread}")
                yield thread, own[0] if own else "X", turns

    def _turns(self, place: str) -> int:
        """How often a thread was given a processor; -1 for one that has ended."""
        words = self._files.read(f"{place}/schedstat").split()
        return int(words[2]) if len(words) > 2 else -1

    def _fields(self, place: str) -> list[str]:
        """The fields of a stat file from the state on; none of what has ended."""
        stat = self._files.read(f"{place}/stat")
        return stat[stat.rindex(b")") + 2 :].decode().split() if stat else []


def are_quiet(watched: Sequence[Barrier]) -> bool:
    """Whether everybody sleeps."""
    first = [barrier.look() for barrier in watched]
    if any(state not in _ASLEEP for look in first for _, state, _ in look):
        return False
    _let_the_ended_be_noticed()
    if not all(barrier.idlers_rest() for barrier in watched):
        return False
    second = [barrier.look() for barrier in watched]
    for barrier in watched:
        barrier.forget_ended()
    return first == second


def _let_the_ended_be_noticed() -> None:
    """Wait until whoever is seen as ended has woken those who wait for that.

    The kernel does both under the lock of its list of processes, which is taken here as well.
    """
    with contextlib.suppress(OSError):
        os.killpg(os.getpgrp(), 0)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 (names are wanted)
    except OSError:
        return []


def _read(path: str) -> bytes:
    """A file of /proc; nothing of a process that has ended."""
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""
