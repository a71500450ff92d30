"""/proc/PID: a process's name, since when it runs, what it uses, and what it was started with.

Sources: proc_pid_stat(5), proc_pid_cmdline(5).
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from gputui.secret_values import command_line
from gputui.sources.files import read
from gputui.text import decoded

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")

# Counted from the field after the name, which is the third.
_STATE, _PARENT, _USER_TICKS, _SYSTEM_TICKS, _START_TICKS, _RESIDENT_PAGES = 0, 1, 11, 12, 19, 21
_ENDED = frozenset({b"Z", b"X"})


@dataclass(frozen=True, slots=True)
class ProcStat:
    """One look at a process. ``start_ticks``, since boot, tells it from a later namesake."""

    name: bytes
    has_ended: bool
    cpu_s: float
    start_ticks: int
    resident_bytes: int
    parent_pid: int = 0

    @property
    def started_s(self) -> float:
        """When it began, in seconds since boot."""
        return self.start_ticks / TICKS_PER_S


def read_stat(proc: str, pid: int) -> ProcStat | None:
    """The process of that number in a /proc; None where there is none to be seen."""
    try:
        data = read(f"{proc}/{pid}/stat")
        # A name may hold anything, parentheses and spaces too.
        name, _, rest = data.partition(b"(")[2].rpartition(b")")
        numbers = rest.split()
        return ProcStat(
            name=name,
            has_ended=numbers[_STATE] in _ENDED,
            cpu_s=(int(numbers[_USER_TICKS]) + int(numbers[_SYSTEM_TICKS])) / TICKS_PER_S,
            start_ticks=int(numbers[_START_TICKS]),
            resident_bytes=int(numbers[_RESIDENT_PAGES]) * PAGE_BYTES,
            parent_pid=int(numbers[_PARENT]),
        )
    except (OSError, ValueError, IndexError):
        return None


def command_text(arguments: bytes, name: bytes) -> str:
    """What is shown of /proc/PID/cmdline, without secrets; the name where that is empty."""
    return command_line(arguments) if arguments else decoded(b"[%b]" % name)
