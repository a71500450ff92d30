"""Whether a sleeping process will wake by this machine's clock.

``/proc/PID/syscall`` (proc(5)) has the number and the arguments of the system call that a process
sleeps in. The numbers are those of x86-64 (arch/x86/entry/syscalls/syscall_64.tbl of Linux); on
other machines, and where the file cannot be read, nothing is found.
"""

from __future__ import annotations

import os
import platform
import struct
from pathlib import Path

_IS_KNOWN = platform.machine() == "x86_64"

_MILLISECONDS = {7: 2, 232: 3, 281: 3}
"""poll, epoll_wait, epoll_pwait: which argument is the timeout; negative is none."""

_POINTERS = {23: 4, 270: 4, 271: 2, 202: 3, 441: 3, 128: 2, 220: 3, 242: 4, 243: 4, 208: 4}
"""select, pselect6, ppoll, futex, epoll_pwait2, rt_sigtimedwait, semtimedop, mq_timedsend and
-receive, io_getevents: which argument points to a timeout; 0 is none."""

_SLEEPS = {35: 0, 230: 2}
"""nanosleep, clock_nanosleep: which argument points to how long."""

_READ, _FOR_SIGNALS = 0, (34, 130)
"""read; pause and rt_sigsuspend, which a timer of the process's own may end."""

_SHORTEST_NS = 1_500_000
"""Shorter sleeps are those of programs that poll."""


def wakes_by_itself(proc: Path, pid: str) -> bool:
    """Whether a process sleeps with a timeout. ``proc`` is the /proc that the PID is of."""
    if not _IS_KNOWN:
        return False
    try:
        words = (proc / pid / "syscall").read_text(encoding="ascii").split()
    except OSError:
        return False
    if len(words) < 7:
        return False  # it runs, or sleeps in no call
    number, arguments = int(words[0]), [int(word, 16) for word in words[1:7]]
    if number in _MILLISECONDS:
        return 0 <= arguments[_MILLISECONDS[number]] & 0xFFFF_FFFF < 1 << 31
    if number in _POINTERS:
        return arguments[_POINTERS[number]] != 0
    if number == _READ:
        return _is_timer(proc / pid / "fd" / str(arguments[0]))
    if number in _FOR_SIGNALS:
        return _has_timers(proc / pid / "timers")
    return number in _SLEEPS and _is_long(proc / pid / "mem", arguments[_SLEEPS[number]])


def _is_timer(descriptor: Path) -> bool:
    """Whether an open file is a timer (timerfd_create(2))."""
    try:
        return str(descriptor.readlink()) == "anon_inode:[timerfd]"
    except OSError:
        return False


def _has_timers(listed: Path) -> bool:
    """Whether a process has timers of its own (timer_create(2)), as ``/proc/PID/timers`` lists."""
    try:
        return bool(listed.read_bytes())
    except OSError:
        return False


def _is_long(memory: Path, address: int) -> bool:
    """Whether a ``struct timespec`` of another process is more than a moment."""
    try:
        descriptor = os.open(memory, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return True
    try:
        seconds, nanoseconds = struct.unpack("qq", os.pread(descriptor, 16, address))
    except (OSError, struct.error, OverflowError):
        return True
    finally:
        os.close(descriptor)
    return bool(seconds * 1_000_000_000 + nanoseconds > _SHORTEST_NS)
