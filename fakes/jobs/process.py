"""Jobs and their processes: who holds a GPU's memory and keeps it busy.

A process of the world may be a mere row (virtual time) or stand for a real small child, so that
``kill``, ``ps`` and /proc agree with NVML. Which of the two is the :class:`ProcessHost`'s matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A job as a scenario gives it: one process a GPU, all with the same load and memory.

    ``load`` is 0..1 of a GPU's SMs; ``gpus`` are indices on one node. A job over several nodes is
    one of these for each: ``first_rank`` is its first process's, ``ranks`` how many there are in
    all (0: as many as there are here).
    """

    id: str
    gpus: tuple[int, ...]
    load: float = 0.95
    memory_bytes: int = 60 << 30
    user: str = "alice"
    command: str = "python3 train.py"
    first_rank: int = 0
    ranks: int = 0


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """What a process host needs to start one: its words, whose it is, and its part in its job.

    ``rank`` counts over all nodes up to ``ranks``, ``local_rank`` on this one; ``gpu`` is an index,
    -1 for a process of the system, which uses none. ``pid`` is the one that it is to have where
    that can be had, 0 for whichever comes.
    """

    command: tuple[str, ...]
    user: str
    job: str
    rank: int
    local_rank: int = 0
    ranks: int = 1
    gpu: int = 0
    pid: int = 0


@dataclass(frozen=True, slots=True)
class Process:
    """A living process on a node. ``pid`` is as its node sees it."""

    pid: int
    spec: ProcessSpec
    started_us: int

    @property
    def name(self) -> str:
        """The name the kernel knows it by: the program's, cut to 15 characters (comm, proc(5))."""
        return self.spec.command[0].rsplit("/", 1)[-1][:15]


class ProcessHost(Protocol):
    """Starts and ends the processes that stand for a job's ranks."""

    def spawn(self, spec: ProcessSpec) -> int:
        """Start a process; its PID as the node sees it."""
        ...

    def kill(self, pid: int) -> None:
        """End a process that this host started. One that is gone already is no error."""
        ...

    def leave_zombie(self, pid: int) -> None:
        """End a process, but have nobody take note of its end until :meth:`kill`."""
        ...


class ProcessTable:
    """A host whose processes are rows: PIDs from 4001 upward, the same at every run."""

    def __init__(self, first_pid: int = 4001) -> None:
        self._next_pid = first_pid

    def spawn(self, spec: ProcessSpec) -> int:
        """Hand out the next PID."""
        if spec.pid:
            return spec.pid
        pid, self._next_pid = self._next_pid, self._next_pid + 1
        return pid

    def kill(self, pid: int) -> None:
        """Nothing to end: the row is the world's."""
        del pid

    def leave_zombie(self, pid: int) -> None:
        """Nothing to end either."""
        del pid
