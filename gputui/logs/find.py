"""Which kernel log to follow, and what to say when none can be read.

Tried in this order: the kernel's own ring, which costs nothing to follow; the journal, which
reaches back further but takes a process; the files that a syslog daemon writes.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gputui.logs.kernel import BOOT, is_interesting
from gputui.logs.prefix import split_prefix
from gputui.logs.tail import FileTail, KmsgTail, Tail

AUTO = "auto"
NONE = "none"
KMSG = "kmsg"
JOURNAL = "journal"
ENVIRONMENT = "GPUTUI_KERNEL_LOG"
"""Names a log as ``--kernel-log`` would, for those who start the monitor through other programs."""

CANDIDATES = (KMSG, JOURNAL, "/var/log/kern.log", "/var/log/syslog", "/var/log/messages")

MOST_READ_BACK = 2000
"""How many lines on GPUs are taken from before the start: well below 200 ms of work."""

_NOW_S = 5.0
"""A line that says it came this long ago, or less, has just come."""


@dataclass(frozen=True, slots=True)
class HeardLine:
    """A line of the log, and whether it came just now or is read back."""

    text: str
    live: bool


class KernelLog:
    """The log that is followed: the first of those chosen that can be read.

    ``name`` says which it is, None for none; ``notice`` is one line for people about those that
    cannot be read, empty once one is. A log that cannot be read is no reason to stop.
    """

    def __init__(self, choice: str, candidates: tuple[str, ...] = CANDIDATES) -> None:
        self.name: str | None = None
        self._choice = os.environ.get(ENVIRONMENT, AUTO) if choice == AUTO else choice
        self._left = list(candidates) if self._choice == AUTO else [self._choice]
        if self._choice == NONE:
            self._left = []
        self._tried: list[str] = []
        self._tail: Tail | None = None

    @property
    def notice(self) -> str:
        """What cannot be read, and what to do about it."""
        if self._tail is not None or self._left or not self._tried:
            return ""
        notice = (
            f"No kernel log can be read ({'; '.join(self._tried)}): "
            "of Xids only those that NVML tells are seen."
        )
        if self._choice == AUTO:
            notice += " Run as root or in group adm, or name a log with --kernel-log."
        return notice

    def descriptor(self) -> int | None:
        """What to wait on; None where there is nothing, or it has to be looked at by the clock."""
        return None if self._tail is None else self._tail.descriptor()

    @property
    def is_polled(self) -> bool:
        """Whether it has to be looked at by the clock."""
        return self._tail is not None and self._tail.descriptor() is None

    def read(self) -> list[HeardLine]:
        """Return what came since the last call; the first time, what is there already."""
        lines: list[HeardLine] = []
        while self._tail is None and self._left:
            lines += self._open(self._left.pop(0))
        if self._tail is None:
            return lines
        lines += [self._heard(line) for line in self._tail.read()]
        if self._tail.failure:
            self._tried.append(f"{self.name}: {self._tail.failure}")
            self.close()
            lines += self.read()
        return lines

    def close(self) -> None:
        """Let go of the log."""
        tail, self._tail, self.name = self._tail, None, None
        if tail is not None:
            tail.close()

    def _open(self, name: str) -> list[HeardLine]:
        try:
            self._tail = _OPENERS.get(name, _open_path)(name)
        except OSError as error:
            self._tried.append(f"{name}: {error.strerror or error}")
            return []
        self.name = name
        return [HeardLine(line, live=False) for line in _this_boot(self._tail.read_back())]

    def _heard(self, line: str) -> HeardLine:
        if self._tail is not None and self._tail.stamped:
            now_s = time.time()
            stamp, _ = split_prefix(line, now_s)
            return HeardLine(line, live=now_s - (stamp.wall_s or now_s) < _NOW_S)
        return HeardLine(line, live=True)


def _this_boot(lines: list[str]) -> list[str]:
    """The last lines on GPUs since the kernel was started, the oldest first."""
    kept: list[str] = []
    for line in reversed(lines):
        if BOOT.search(line) or len(kept) >= MOST_READ_BACK:
            break
        if is_interesting(line):
            kept.append(line)
    return kept[::-1]


def _open_path(name: str) -> Tail:
    path = Path(name)
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode):
        return KmsgTail(path)
    if stat.S_ISREG(mode):
        return FileTail(path)
    raise OSError(None, "is neither a file nor a device")


def _open_journal(_: str) -> Tail:
    from gputui.logs.journal import JournalTail  # what it needs takes time to import

    return JournalTail()


_OPENERS: dict[str, Callable[[str], Tail]] = {KMSG: lambda _: KmsgTail(), JOURNAL: _open_journal}
