"""When real processes have nothing to do until time passes.

A clock that jumps may do so only when everybody waits: every process on the node is asleep, and has
not run between two looks a millisecond apart.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from chaos.timed_waits import wakes_by_itself

_APART_S = 0.001
_ASLEEP = frozenset("SZTtXI")
"""States of /proc/PID/stat in which a process does nothing (proc(5))."""

Look = tuple[tuple[str, str, int], ...]
"""Each process: its PID, its state, and how often it was given a processor."""


class Barrier:
    """Looks at the processes of a node, by its own /proc.

    ``idlers`` are the PIDs of those that do nothing anyway: its first process, a job's ranks.
    """

    def __init__(self, proc: Path, idlers: Callable[[], Collection[int]]) -> None:
        self._proc = str(proc)
        self._idlers = idlers

    @property
    def is_quiet(self) -> bool:
        """Whether everybody sleeps. It takes a millisecond to find out.

        Where nobody is, somebody is just coming, or going.
        """
        first = self._look()
        if not first or any(state not in _ASLEEP for _, state, _ in first):
            return False
        time.sleep(_APART_S)
        return self._look() == first

    @property
    def somebody_wakes_by_itself(self) -> bool:
        """Whether somebody sleeps with a timeout of this machine's clock."""
        proc = Path(self._proc)
        return any(wakes_by_itself(proc, pid) for pid, _, _ in self._look())

    def _look(self) -> Look:
        idlers = {str(pid) for pid in self._idlers()}
        return tuple(sorted(self._processes(idlers)))

    def _processes(self, idlers: Collection[str]) -> Iterator[tuple[str, str, int]]:
        for name in os.listdir(self._proc):  # noqa: PTH208 (names are wanted)
            if not name.isdecimal() or name in idlers:
                continue
            try:
                stat = _read(f"{self._proc}/{name}/stat")
                turns = int(_read(f"{self._proc}/{name}/schedstat").split()[2])
            except (OSError, IndexError, ValueError):
                continue  # it ended meanwhile
            yield name, stat[stat.rindex(b")") + 2 :][:1].decode(), turns


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 4096)
    finally:
        os.close(descriptor)
