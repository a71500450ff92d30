"""The processes on the GPUs: who they are, from /proc.

A process id that NVML reports belongs to the host's namespace. In a container it may name nobody,
so a process that is not in this /proc is labelled instead of being given another's name. One that
ends between two calls is normal.
"""

from __future__ import annotations

import os
import pwd
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gputui.text import decoded

ELSEWHERE = "[not in this /proc: a process of the host or of another container]"
ENDED = "[ended]"

_COMMAND_BYTES = 1024
_REFRESH_S = 10.0
_SLURM_JOB = b"SLURM_JOB_ID="
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class HostProcess:
    """What the host knows of a process. ``cpu_percent`` is of one core, since the last look."""

    user: str | None = None
    command: str | None = None
    job: str | None = None
    running_s: float | None = None
    host_memory_bytes: int | None = None
    cpu_percent: float | None = None


@dataclass(slots=True)
class _Known:
    """What is kept of a process between looks. ``start_ticks`` tells it from a later namesake."""

    start_ticks: int
    user: str | None = None
    command: str | None = None
    job: str | None = None
    refreshed_s: float = field(default=float("-inf"))
    cpu_s: float = 0.0
    looked_s: float = 0.0


class ProcessTable:
    """Looks processes up, and remembers what cannot change."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = os.fspath(proc)
        self._known: dict[int, _Known] = {}
        self._users: dict[int, str] = {}

    def look(self, pids: Iterable[int]) -> dict[int, HostProcess]:
        """Return what /proc says of each; processes not asked for are forgotten."""
        wanted = set(pids)
        self._known = {pid: known for pid, known in self._known.items() if pid in wanted}
        return {pid: self._look(pid) for pid in wanted}

    def _look(self, pid: int) -> HostProcess:
        now_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        stat = self._read(pid, "stat", 4096)
        if stat is None:
            ended = self._known.get(pid)
            if ended is None:
                return HostProcess(command=ELSEWHERE)
            return HostProcess(user=ended.user, command=ended.command or ENDED, job=ended.job)
        name, _, rest = stat.partition(b"(")[2].rpartition(b")")
        # proc_pid_stat(5), counted from the field after the name, which is the third.
        numbers = rest.split()
        cpu_s = (int(numbers[11]) + int(numbers[12])) / _TICKS_PER_S
        start_ticks = int(numbers[19])
        known = self._known.get(pid)
        if known is None or known.start_ticks != start_ticks:
            known = self._known[pid] = _Known(start_ticks)
        if now_s - known.refreshed_s >= _REFRESH_S and self._refresh(pid, known, name):
            known.refreshed_s = now_s
        cpu_percent = None
        if known.looked_s and now_s > known.looked_s:
            cpu_percent = round(100 * max(cpu_s - known.cpu_s, 0) / (now_s - known.looked_s), 1)
        known.cpu_s, known.looked_s = cpu_s, now_s
        return HostProcess(
            user=known.user,
            command=known.command,
            job=known.job,
            running_s=round(max(now_s - start_ticks / _TICKS_PER_S, 0.0), 2),
            host_memory_bytes=int(numbers[21]) * _PAGE_BYTES,
            cpu_percent=cpu_percent,
        )

    def _refresh(self, pid: int, known: _Known, name: bytes) -> bool:
        """Read what seldom changes; False if the process is not quite there yet (or any more)."""
        arguments = self._read(pid, "cmdline", _COMMAND_BYTES)
        known.command = decoded(arguments.replace(b"\0", b" ") if arguments else b"[%b]" % name)
        if known.user is None:
            known.user = self._user(pid)
        if known.job is None:
            known.job = self._job(pid)
        return bool(arguments)

    def _user(self, pid: int) -> str | None:
        try:
            uid = os.stat(f"{self._proc}/{pid}").st_uid  # noqa: PTH116 (hot path)
        except OSError:
            return None
        if uid not in self._users:
            try:
                self._users[uid] = pwd.getpwuid(uid).pw_name
            except KeyError:
                self._users[uid] = str(uid)
        return self._users[uid]

    def _job(self, pid: int) -> str | None:
        """The Slurm job's id, where this user may read the process's environment."""
        environment = self._read(pid, "environ", 1 << 20) or b""
        for entry in environment.split(b"\0"):
            if entry.startswith(_SLURM_JOB):
                return decoded(entry[len(_SLURM_JOB) :]) or None
        return None

    def _read(self, pid: int, name: str, limit: int) -> bytes | None:
        try:
            descriptor = os.open(f"{self._proc}/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            return os.read(descriptor, limit)
        except OSError:
            return None
        finally:
            os.close(descriptor)
