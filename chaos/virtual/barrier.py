"""When real processes have nothing to do until time passes.

A clock that jumps may do so only when everybody waits: every thread of every process on the nodes
is asleep, and has not run between two looks a millisecond apart.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path

from chaos.virtual.timed_waits import wakes_by_itself

_APART_S = 0.001
_ASLEEP = frozenset("SZTtXI")
"""States of /proc/PID/stat in which a thread does nothing (proc(5))."""
_GONE = frozenset("ZX")
_MOST_LOOKED_AT = 2000
"""So many threads are not looked at one by one."""
_THREADS_FIELD = 17
"""How many threads a process has, counted in /proc/PID/stat from its state."""

Look = tuple[tuple[str, str, int], ...]
"""Each thread: its PID, its state, and how often it was given a processor."""


class Barrier:
    """Looks at the processes of a node, by its own /proc.

    ``idlers`` are the PIDs of those that do nothing anyway: its first process, a job's ranks.
    """

    def __init__(self, proc: Path, idlers: Callable[[], Collection[int]]) -> None:
        self._proc = str(proc)
        self._idlers = idlers

    @property
    def somebody_wakes_by_itself(self) -> bool:
        """Whether somebody sleeps with a timeout of this machine's clock."""
        proc = Path(self._proc)
        return any(wakes_by_itself(proc, pid) for pid, _, _ in self.look())

    def look(self) -> Look:
        """Every thread that may be doing something; of very many, some."""
        return tuple(sorted(islice(self._threads(), _MOST_LOOKED_AT)))

    def commands(self) -> list[list[str]]:
        """The command lines of those that live, in order: the same at every run."""
        return sorted(
            [os.fsdecode(word) for word in _read(f"{self._proc}/{pid}/cmdline").split(b"\0")[:-1]]
            for pid in self._living()
        )

    def count(self) -> int:
        """How many processes there are."""
        return sum(1 for _ in self._pids())

    def _living(self) -> list[str]:
        """The PIDs of the processes that have not ended."""
        pids = []
        for pid in self._pids():
            fields = _fields(f"{self._proc}/{pid}/stat")
            if fields and fields[0] not in _GONE:
                pids.append(pid)
        return pids

    def _pids(self) -> Iterator[str]:
        idlers = {str(pid) for pid in self._idlers()}
        try:
            names = os.listdir(self._proc)  # noqa: PTH208 (names are wanted)
        except OSError:
            return  # the node's first process has ended, and all others with it
        for name in names:
            if name.isdecimal() and name not in idlers:
                yield name

    def _threads(self) -> Iterator[tuple[str, str, int]]:
        for pid in self._pids():
            place = f"{self._proc}/{pid}"
            fields = _fields(f"{place}/stat")
            if not fields:
                continue  # it ended meanwhile
            if fields[_THREADS_FIELD] == "1":
                yield pid, fields[0], _turns(place)
                continue
            for thread in _names(f"{place}/task"):
                own = _fields(f"{place}/task/{thread}/stat")
                yield thread, own[0] if own else "X", _turns(f"{place}/task/{thread}")


def are_quiet(barriers: Iterable[Barrier]) -> bool:
    """Whether everybody sleeps. It takes a millisecond to find out."""
    watched = tuple(barriers)
    first = [barrier.look() for barrier in watched]
    if any(state not in _ASLEEP for look in first for _, state, _ in look):
        return False
    time.sleep(_APART_S)
    return [barrier.look() for barrier in watched] == first


def _turns(place: str) -> int:
    """How often a thread was given a processor; -1 for one that has ended."""
    words = _read(f"{place}/schedstat").split()
    return int(words[2]) if len(words) > 2 else -1


def _fields(path: str) -> list[str]:
    """A stat file's fields from the state on; none of what has ended."""
    stat = _read(path)
    return stat[stat.rindex(b")") + 2 :].decode().split() if stat else []


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 (names are wanted)
    except OSError:
        return []


def _read(path: str) -> bytes:
    """A file of /proc; nothing of a process that has ended."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""
    finally:
        os.close(descriptor)
