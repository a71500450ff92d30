"""The processes on the GPUs: who they are, from /proc.

A process that ends between two calls is normal. One that the driver lists and this /proc does not
have, or has under another identity, is labelled instead of being given another's name.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from gputui.model import Ancestor, ProcessSample
from gputui.sources.ancestors import ancestors_of
from gputui.sources.files import read
from gputui.sources.jobs import Job, job_of
from gputui.sources.namespace import HOST_PID, PidNamespace
from gputui.sources.proc_stat import ProcStat, command_text, read_stat
from gputui.sources.reasons import HAS_ENDED as HAS_ENDED
from gputui.sources.reasons import REUSED as REUSED
from gputui.sources.users import Users

NOT_LOOKED_AT = "not looked at yet"
ENDED = "[ended]"

_COMMAND_BYTES = 1024
_ENVIRONMENT_BYTES = 1 << 20
_REFRESHED_AFTER_S = (2.0, 10.0, 30.0)
"""When what seldom changes is read again: soon once, for a process may yet become its program."""

_JOB_LOOKS = 2
_LOOK_EVERY_S = 0.9
"""A little less than a second, so that a look a second is not one every two."""

_MOST_AT_ONCE = 256
_START_TOLERANCE_S = 0.1


@dataclass(frozen=True, slots=True)
class HostProcess:
    """What the host knows of a process. ``cpu_percent`` is of one core, since the last look.

    ``start_ticks``, ``unreachable`` and ``parent_pid`` are those of
    :class:`gputui.model.ProcessSample`; ``ancestors`` stand above it, the nearest first.
    """

    user: str | None = None
    command: str | None = None
    job: str | None = None
    job_kind: str | None = None
    running_s: float | None = None
    host_memory_bytes: int | None = None
    cpu_percent: float | None = None
    start_ticks: int | None = None
    unreachable: str | None = None
    parent_pid: int | None = None
    ancestors: tuple[Ancestor, ...] = ()

    def joined(self, process: ProcessSample) -> ProcessSample:
        """What NVML told of a process, with what the host knows of it."""
        return replace(
            process,
            user=self.user,
            command=self.command,
            job=self.job,
            job_kind=self.job_kind,
            running_s=self.running_s,
            host_memory_bytes=self.host_memory_bytes,
            cpu_percent=self.cpu_percent,
            start_ticks=self.start_ticks,
            unreachable=self.unreachable,
            parent_pid=self.parent_pid,
        )


@dataclass(slots=True)
class _Known:
    """What is kept of a PID for as long as the driver lists it. Times are in seconds since boot.

    ``start_ticks`` is None for one that was not in /proc. ``is_reused``: the process of that number
    is not the one that the driver lists.
    """

    start_ticks: int | None
    doubt: str | None = None
    user: str | None = None
    command: str | None = None
    job: Job | None = None
    ancestors: tuple[Ancestor, ...] = ()
    has_ended: bool = False
    is_reused: bool = False
    refreshed_s: float = float("-inf")
    refreshes: int = 0
    cpu_s: float | None = None
    looked_s: float = float("-inf")
    shown: HostProcess = HostProcess(unreachable=NOT_LOOKED_AT)

    def gives_way_to(self, stat: ProcStat) -> bool:
        """Whether a process is to be believed to be what the driver means by the number now.

        It is when it took the number within one look, which is a restart, or when it began before
        it was missed. One that began while the driver already listed the number for somebody who
        has ended, or who never was here, is another.
        """
        if self.is_reused:
            return False
        if self.start_ticks is None:
            return stat.started_s <= self.looked_s - _START_TOLERANCE_S
        return stat.start_ticks != self.start_ticks and not self.has_ended

    def take_note(self, stat: ProcStat | None) -> None:
        """Keep what one look says of its life."""
        if stat is not None and stat.start_ticks == self.start_ticks:
            self.has_ended = stat.has_ended
        elif stat is not None:
            self.is_reused = True
        elif self.start_ticks is not None:
            self.has_ended = True


class ProcessTable:
    """Looks processes up, at most once a second each, and remembers what cannot change."""

    def __init__(self, proc: Path = Path("/proc"), dev: Path = Path("/dev")) -> None:
        self._proc = os.fspath(proc)
        self._namespace = PidNamespace(self._proc, os.fspath(dev))
        self._known: dict[int, _Known] = {}
        self._users = Users()
        self._host = os.uname().nodename

    def look(self, pids: Iterable[int]) -> dict[int, HostProcess]:
        """Return what /proc says of each; processes not asked for are forgotten.

        Of very many, those that were looked at longest ago have their turn.
        """
        wanted = set(pids)
        now_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        self._known = {pid: known for pid, known in self._known.items() if pid in wanted}
        due = [pid for pid in wanted if self._is_due(pid, now_s)]
        if len(due) > _MOST_AT_ONCE:
            due.sort(key=self._looked_s)
        for pid in due[:_MOST_AT_ONCE]:
            self._look(pid, now_s)
        nothing = HostProcess(unreachable=NOT_LOOKED_AT)
        return {pid: self._known[pid].shown if pid in self._known else nothing for pid in wanted}

    def _is_due(self, pid: int, now_s: float) -> bool:
        """The second look comes as soon as it can: it is the first to know a share of the CPU."""
        known = self._known.get(pid)
        if known is None or known.shown.cpu_percent is None:
            return True
        return now_s - known.looked_s >= _LOOK_EVERY_S

    def _looked_s(self, pid: int) -> float:
        known = self._known.get(pid)
        return float("-inf") if known is None else known.looked_s

    def _look(self, pid: int, now_s: float) -> None:
        stat = read_stat(self._proc, pid)
        known = self._known.get(pid)
        if stat is not None and (known is None or known.gives_way_to(stat)):
            # One that has ended has nothing open any more by which it could be told.
            doubt = None if stat.has_ended else self._namespace.doubt(pid)
            known = _Known(stat.start_ticks, doubt=doubt)
        elif known is None:
            known = _Known(start_ticks=None)
        known.take_note(stat)
        if stat is None or known.is_reused:
            known.shown = self._without_process(known)
        else:
            known.shown = self._with_process(pid, known, stat, now_s)
        known.looked_s = now_s
        self._known[pid] = known

    def _without_process(self, known: _Known) -> HostProcess:
        """Someone of whom only the driver knows, or who has ended but still holds memory."""
        if known.start_ticks is None:
            first = self._namespace.is_first and known.is_reused
            return _somebody(REUSED if first else self._namespace.absent)
        return HostProcess(
            user=known.user,
            command=known.command or ENDED,
            job=known.job.id if known.job else None,
            job_kind=known.job.kind if known.job else None,
            unreachable=REUSED if known.is_reused else HAS_ENDED,
        )

    def _with_process(self, pid: int, known: _Known, stat: ProcStat, now_s: float) -> HostProcess:
        if known.doubt == HOST_PID:
            return _somebody(HOST_PID)
        after_s = _REFRESHED_AFTER_S[min(known.refreshes, len(_REFRESHED_AFTER_S) - 1)]
        if now_s - known.refreshed_s >= after_s and self._refresh(pid, known, stat):
            known.refreshed_s = now_s
            known.refreshes += 1
        cpu_percent = None
        if known.cpu_s is not None and now_s > known.looked_s:
            used_s = max(stat.cpu_s - known.cpu_s, 0.0)
            cpu_percent = round(100 * used_s / (now_s - known.looked_s), 1)
        known.cpu_s = stat.cpu_s
        return HostProcess(
            user=known.user,
            command=known.command,
            job=known.job.id if known.job else None,
            job_kind=known.job.kind if known.job else None,
            running_s=round(max(now_s - stat.started_s, 0.0), 2),
            host_memory_bytes=stat.resident_bytes,
            cpu_percent=cpu_percent,
            start_ticks=stat.start_ticks,
            unreachable=HAS_ENDED if stat.has_ended else known.doubt,
            parent_pid=stat.parent_pid,
            ancestors=known.ancestors,
        )

    def _refresh(self, pid: int, known: _Known, stat: ProcStat) -> bool:
        """Read what seldom changes; False if the process is not quite there yet (or any more)."""
        arguments = self._read(pid, "cmdline", _COMMAND_BYTES)
        known.command = command_text(arguments, stat.name)
        if known.user is None:
            known.user = self._users.of(f"{self._proc}/{pid}")
        known.ancestors = ancestors_of(self._proc, stat.parent_pid, self._users)
        if known.job is None and known.refreshes < _JOB_LOOKS:
            known.job = job_of(
                self._read(pid, "cgroup", _ENVIRONMENT_BYTES),
                self._read(pid, "environ", _ENVIRONMENT_BYTES),
                self._host,
            )
        return bool(arguments)

    def _read(self, pid: int, name: str, limit: int) -> bytes:
        """A file of a process; nothing where it is not there, or not for this user to read."""
        try:
            return read(f"{self._proc}/{pid}/{name}", limit)
        except OSError:
            return b""


def _somebody(reason: str) -> HostProcess:
    return HostProcess(command=f"[{reason}]", unreachable=reason)
