"""Which kernel log to follow, and what to say when none can be read.

Tried in this order: the journal, which tells exactly when each line came and reaches back to the
boot; the kernel's own ring, in which a talkative driver writes over what was there first; the files
that a syslog daemon writes.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gputui.logs.choice import AUTO, JOURNAL, KMSG, NONE
from gputui.logs.kernel import BOOT, is_interesting
from gputui.logs.prefix import split_prefix
from gputui.logs.tail import FileTail, KmsgTail, Tail

ENVIRONMENT = "GPUTUI_KERNEL_LOG"
"""Names a log as ``--kernel-log`` would, for those who start the monitor through other programs."""

FABRIC_MANAGER = "/var/log/fabricmanager.log"
"""Where the Fabric Manager writes what it does not tell the system's log."""

CANDIDATES = (JOURNAL, KMSG, "/var/log/kern.log", "/var/log/syslog", "/var/log/messages")

MOST_READ_BACK = 2000
"""How many lines on GPUs are taken from before the start: well below 200 ms of work."""

_MOST_SORTS = 1000

_XID = re.compile(r"S?Xid \([^)]*\):? *\d+")
_NUMBER = re.compile(r"\d+")

_NOW_S = 5.0
"""A line that says it came this long ago, or less, has just come."""


@dataclass(frozen=True, slots=True)
class HeardLine:
    """A line of the log, and whether it came just now or is read back."""

    text: str
    live: bool


class KernelLog:
    """The log that is followed: the first of those chosen that can be read.

    Where nobody named one, the Fabric Manager's log is followed beside it, once there is one.
    ``name`` says which it is, None for none; ``notice`` is one line for people about those that
    cannot be read, empty once one is. A log that cannot be read is no reason to stop.
    """

    def __init__(
        self,
        choice: str,
        candidates: tuple[str, ...] = CANDIDATES,
        beside: str = FABRIC_MANAGER,
    ) -> None:
        self.name: str | None = None
        self._choice = os.environ.get(ENVIRONMENT, AUTO) if choice == AUTO else choice
        self._left = list(candidates) if self._choice == AUTO else [self._choice]
        if self._choice == NONE:
            self._left = []
        self._tried: list[str] = []
        self._tail: Tail | None = None
        self._beside = beside if self._choice == AUTO else ""
        self._beside_tail: FileTail | None = None
        self._passed_over = 0

    @property
    def notice(self) -> str:
        """What cannot be read, and what to do about it."""
        if self._passed_over and self._tail is not None:
            return (
                f"{self._passed_over} older lines on GPUs in the kernel log were passed over: each "
                "repeats others."
            )
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
        if self._beside_tail is not None:
            return True
        return self._tail is not None and self._tail.descriptor() is None

    def read(self) -> list[HeardLine]:
        """Return what came since the last call; the first time, what is there already."""
        return [*self._read_kernels(), *self._read_beside()]

    def _read_kernels(self) -> list[HeardLine]:
        lines: list[HeardLine] = []
        while self._tail is None and self._left:
            lines += self._open(self._left.pop(0))
        if self._tail is None:
            return lines
        lines += [self._heard(line) for line in self._tail.read()]
        if self._tail.failure:
            self._tried.append(f"{self.name}: {self._tail.failure}")
            self._let_go()
            lines += self._read_kernels()
        return lines

    def _read_beside(self) -> list[HeardLine]:
        """What the Fabric Manager says. That it has no log, or one that may not be read, is no
        notice: few nodes have one.
        """
        if self._beside_tail is not None:
            came = filter(is_interesting, self._beside_tail.read())
            return [HeardLine(line, live=True) for line in came]
        if not self._beside:
            return []
        try:
            if not stat.S_ISREG(Path(self._beside).stat().st_mode):
                return []
            self._beside_tail = FileTail(Path(self._beside))
            lines, _ = _this_boot(self._beside_tail.read_back())
        except OSError:
            return []
        return [HeardLine(line, live=False) for line in lines]

    def close(self) -> None:
        """Let go of the logs."""
        self._let_go()
        if self._beside_tail is not None:
            self._beside_tail.close()
            self._beside_tail = None

    def _let_go(self) -> None:
        tail, self._tail, self.name = self._tail, None, None
        if tail is not None:
            tail.close()

    def _open(self, name: str) -> list[HeardLine]:
        try:
            self._tail = _OPENERS.get(name, _open_path)(name)
            lines, self._passed_over = _this_boot(self._tail.read_back())
        except OSError as error:
            self._let_go()
            self._tried.append(f"{name}: {error.strerror or error}")
            return []
        self.name = name
        return [HeardLine(line, live=False) for line in lines]

    def _heard(self, line: str) -> HeardLine:
        if self._tail is not None and self._tail.stamped:
            now_s = time.time()
            stamp, _ = split_prefix(line, now_s)
            return HeardLine(line, live=now_s - (stamp.wall_s or now_s) < _NOW_S)
        return HeardLine(line, live=True)


def _this_boot(lines: list[str]) -> tuple[list[str], int]:
    """The lines on GPUs since the kernel was started, the oldest first; and how many were left out.

    Beyond ``MOST_READ_BACK`` the last line of each sort is taken: an early failure is not lost for
    the noise that followed.
    """
    kept: list[str] = []
    sorts: set[str] = set()
    left_out = 0
    for line in reversed(lines):
        if BOOT.search(line):
            break
        if not is_interesting(line):
            continue
        sort = _sort_of(line)
        if len(kept) < MOST_READ_BACK or (sort not in sorts and len(sorts) < _MOST_SORTS):
            kept.append(line)
            sorts.add(sort)
        else:
            left_out += 1
    return kept[::-1], left_out


def _sort_of(line: str) -> str:
    """What lines have in common that say the same: an Xid's GPU and code, or the words alone."""
    found = _XID.search(line)
    return found[0] if found else _NUMBER.sub("", line)


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


def boot_s() -> float | None:
    """When this machine was started (Unix time)."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/stat").read_text(encoding="ascii").splitlines():
            if line.startswith("btime "):
                return float(line.split()[1])
    return None
