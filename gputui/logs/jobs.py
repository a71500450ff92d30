"""The logs of the jobs on the GPUs: found by themselves, or given.

Where a process on a GPU has a regular file as its standard output or error, that is its job's log:
/proc/PID/fd leads there, also across containers. Ranks that write into one file share a log. A file
system may hang, so a thread of their own reads them: nobody waits for it.
"""

from __future__ import annotations

import contextlib
import glob
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from gputui.logs.choice import AUTO, JOB_LOG_VARIABLE, NONE
from gputui.logs.job_event import JobEvent
from gputui.logs.job_tail import JobTail, is_regular
from gputui.model import NodeSample, ProcessSample
from gputui.sources.files import read

if TYPE_CHECKING:  # what reads the words takes time to import, and many nodes have no such log
    from gputui.logs.job_reader import JobReader, Origin


MOST_LOGS = 64
_MOST_EVENTS = 10_000
_MOST_AT_ONCE_BYTES = 4 << 20
_LOOKS_EVERY_S = 0.5
_SEARCHES_EVERY_S = 10.0
_LINGERS_S = 120.0
"""For how long a log is followed after its last process has ended: the launcher reports later."""

_OLDEST_S = 3600.0
"""What was written longer ago, and is read back, is no news."""

_ENVIRONMENT_BYTES = 1 << 20
_RANKS = (b"RANK", b"SLURM_PROCID", b"OMPI_COMM_WORLD_RANK", b"PMIX_RANK", b"PMI_RANK")
"""Where launchers tell a process its rank: torchrun, Slurm, Open MPI, PMIx, MPICH."""


@dataclass(frozen=True, slots=True)
class HeardWord:
    """An event of a job's log, and whether it was written just now or is read back."""

    event: JobEvent
    live: bool


@dataclass(slots=True)
class _Log:
    """One log that is followed: its processes by PID, and when the last of them was seen."""

    tail: JobTail
    reader: JobReader
    name: str
    processes: dict[int, ProcessSample] = field(default_factory=dict)
    ranks: dict[int, int] = field(default_factory=dict)
    seen_s: float = 0.0
    given: bool = False

    def origin(self, host: str) -> Origin:
        """Whose log it is, by the processes that write it."""
        from gputui.logs.job_reader import Origin

        jobs = {one.job for one in self.processes.values() if one.job}
        gpus = tuple(
            sorted(
                (rank, self.processes[pid].gpu)
                for pid, rank in self.ranks.items()
                if pid in self.processes
            )
        )
        job = next(iter(jobs)) if len(jobs) == 1 else self.name
        if len(self.processes) != 1:
            return Origin(job=job, host=host, gpus=gpus)
        (pid, process), *_ = self.processes.items()
        return Origin(job, pid, self.ranks.get(pid), process.gpu, host, gpus)


class JobLogs:
    """Follows the logs of a node's jobs. ``choice`` is ``auto``, ``none`` or a pattern of paths.

    ``on_words`` is called, in the thread that reads, when there is something to take.
    """

    def __init__(
        self,
        choice: str = AUTO,
        proc: str = "/proc",
        on_words: Callable[[], None] = lambda: None,
    ) -> None:
        self._choice = choice
        self._pattern = os.environ.get(JOB_LOG_VARIABLE, "") if choice == AUTO else choice
        self._proc = proc
        self._on_words = on_words
        self._host = os.uname().nodename
        self._logs: dict[tuple[int, int], _Log] = {}
        self._known_pids: dict[int, tuple[tuple[int, int], ...]] = {}
        self._denied: dict[str, str] = {}
        self._given: set[str] = set()
        self._words: deque[HeardWord] = deque(maxlen=_MOST_EVENTS)
        self._processes: tuple[ProcessSample, ...] = ()
        self._searched_s = float("-inf")
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def notice(self) -> str:
        """What cannot be read, and what to do about it; empty while all can."""
        if not self._denied or (self._choice == AUTO and self._pattern):
            return ""
        which, why = next(iter(self._denied.items()))
        more = f" and {len(self._denied) - 1} more" if len(self._denied) > 1 else ""
        advice = "" if self._choice != AUTO else " Run as the jobs' user or as root."
        return f"Job logs cannot be read ({which}: {why}{more}).{advice}"

    def meet(self, sample: NodeSample) -> None:
        """Learn which processes are on the GPUs; the first time, begin to read."""
        if self._choice == NONE or self._stopping.is_set():
            return
        self._processes = sample.processes
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="job logs", daemon=True)
            self._thread.start()

    def take(self) -> list[HeardWord]:
        """What was heard since the last call."""
        words = []
        with contextlib.suppress(IndexError):
            while True:
                words.append(self._words.popleft())
        return words

    def close(self) -> None:
        """Stop reading. A thread that is stuck in a file system is left to its fate."""
        self._stopping.set()

    # --- in the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._stopping.is_set():
            self.look(time.monotonic(), time.time())
            self._stopping.wait(_LOOKS_EVERY_S)
        for log in self._logs.values():
            log.tail.close()

    def look(self, monotonic_s: float, now_s: float) -> None:
        """Search for logs if it is time, and read what is new in those there are."""
        if self._choice == AUTO:
            self._search_processes(self._processes, monotonic_s)
        if self._pattern and monotonic_s - self._searched_s >= _SEARCHES_EVERY_S:
            self._searched_s = monotonic_s
            self._search_paths(_matching(self._pattern), monotonic_s)
        before = len(self._words)
        for identity, log in list(self._logs.items()):
            self._read(log, now_s)
            if not log.given and monotonic_s - log.seen_s > _LINGERS_S:
                self._words += (HeardWord(one.event, True) for one in log.reader.rest(now_s))
                log.tail.close()
                del self._logs[identity]
        if len(self._words) > before:
            self._on_words()

    def _search_processes(self, processes: Iterable[ProcessSample], monotonic_s: float) -> None:
        there = {one.pid: one for one in processes if one.unreachable is None}
        for pid in self._known_pids.keys() - there.keys():
            del self._known_pids[pid]
        for pid, process in there.items():
            if pid not in self._known_pids:
                self._known_pids[pid] = tuple(self._logs_of(process, monotonic_s))
            for identity in self._known_pids[pid]:
                if log := self._logs.get(identity):
                    log.processes[pid] = process
                    log.seen_s = monotonic_s

    def _logs_of(self, process: ProcessSample, monotonic_s: float) -> list[tuple[int, int]]:
        """Open the logs of a process that was not known yet."""
        found = []
        for number in (1, 2):
            path = f"{self._proc}/{process.pid}/fd/{number}"
            try:
                if not is_regular(path):
                    continue
                held = os.stat(path)  # noqa: PTH116
                identity = held.st_dev, held.st_ino
                if identity not in self._logs:
                    self._open(path, _name(path), monotonic_s)
            except FileNotFoundError:
                continue
            except OSError as error:
                self._deny(f"PID {process.pid}", error)
                break
            if identity in self._logs:
                rank = _rank(self._proc, process.pid)
                if rank is not None:
                    self._logs[identity].ranks[process.pid] = rank
                found.append(identity)
        return found

    def _search_paths(self, paths: Iterable[str], monotonic_s: float) -> None:
        for path in paths:
            if path in self._given:
                continue
            try:
                if is_regular(path):
                    self._given.add(path)
                    self._open(path, _job_name(path), monotonic_s, given=True)
            except OSError as error:
                self._deny(path, error)

    def _open(self, path: str, name: str, monotonic_s: float, *, given: bool = False) -> None:
        if len(self._logs) >= MOST_LOGS:
            return
        from gputui.logs.job_reader import JobReader, Origin

        tail = JobTail(path, by_name=given)
        reader = JobReader(Origin(job=name, host=self._host))
        log = _Log(tail, reader, name, seen_s=monotonic_s, given=given)
        if self._logs.setdefault(tail.identity, log) is not log:
            tail.close()

    def _read(self, log: _Log, now_s: float) -> None:
        log.reader.origin = log.origin(self._host)
        for piece in log.tail.read(_MOST_AT_ONCE_BYTES):
            if piece.fresh:
                log.reader.forget()
            at_s = now_s if piece.live else min(piece.time_s, now_s)
            for heard in log.reader.feed(piece.data, at_s, live=piece.live):
                if piece.live or now_s - heard.event.time_s <= _OLDEST_S:
                    self._words.append(HeardWord(heard.event, piece.live))

    def _deny(self, which: str, error: OSError) -> None:
        if len(self._denied) < MOST_LOGS:
            self._denied[which] = error.strerror or str(error)


def _matching(pattern: str) -> Iterable[str]:
    return glob.iglob(pattern, recursive=True)  # noqa: PTH207 (a pattern may be absolute)


def _name(path: str) -> str:
    """What a log is called, by the name of its file without its ending."""
    with contextlib.suppress(OSError):
        return _job_name(os.readlink(path).removesuffix(" (deleted)"))  # noqa: PTH115
    return PurePath(path).parts[-3]


def _job_name(path: str) -> str:
    """What a job is called by its log's name; sbatch puts the job's id into it."""
    stem = PurePath(path).stem
    return stem.removeprefix("slurm-") if stem.removeprefix("slurm-").isdigit() else stem


def _rank(proc: str, pid: int) -> int | None:
    """The rank that its launcher gave a process, where its environment may be read."""
    try:
        environment = read(f"{proc}/{pid}/environ", _ENVIRONMENT_BYTES)
    except OSError:
        return None
    told: dict[bytes, bytes] = {}
    for entry in environment.split(b"\0"):
        name, equals, value = entry.partition(b"=")
        if equals and name in _RANKS and value.isdigit() and len(value) <= 6:
            told.setdefault(name, value)
    return next((int(told[name]) for name in _RANKS if name in told), None)


def job_word(text: str, time_s: float, job: str, host: str = "") -> JobEvent | None:
    """The event on one line of a job's log that was recorded, or came from another node."""
    from gputui.logs.job_reader import JobReader, Origin

    reader = JobReader(Origin(job=job, host=host))
    heard = reader.feed(text.encode() + b"\n", time_s)
    return replace(heard[0].event, time_s=time_s) if heard else None
