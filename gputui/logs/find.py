"""Which kernel log to follow, and what to say when none can be read."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from gputui.logs.tail import FileTail, KmsgTail, Tail

AUTO = "auto"
NONE = "none"
ENVIRONMENT = "GPUTUI_KERNEL_LOG"
"""Names a log as ``--kernel-log`` would, for those who start the monitor through other programs."""

KMSG = Path("/dev/kmsg")
CANDIDATES = (
    KMSG,
    Path("/var/log/kern.log"),
    Path("/var/log/syslog"),
    Path("/var/log/messages"),
)


@dataclass(frozen=True, slots=True)
class KernelLog:
    """The log that is followed, or why none is: ``notice`` is one line for people."""

    tail: Tail | None = None
    path: Path | None = None
    notice: str = ""


def open_kernel_log(choice: str, candidates: tuple[Path, ...] = CANDIDATES) -> KernelLog:
    """Open what ``--kernel-log`` names: ``auto``, ``kmsg``, ``none`` or a path.

    A log that cannot be read is no reason to stop: Xids are then not seen, and the notice says so.
    """
    if choice == AUTO:
        choice = os.environ.get(ENVIRONMENT) or AUTO
    if choice == NONE:
        return KernelLog()
    paths = candidates
    if choice != AUTO:
        paths = (KMSG if choice == "kmsg" else Path(choice),)
    tried = []
    for path in paths:
        try:
            return KernelLog(_open(path), path)
        except OSError as error:
            tried.append(f"{path}: {error.strerror or error}")
    notice = f"Xids are not seen: no kernel log can be read ({'; '.join(tried)})."
    if choice == AUTO:
        notice += " Run as root or in group adm, or name a log with --kernel-log."
    return KernelLog(notice=notice)


def _open(path: Path) -> Tail:
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode):
        return KmsgTail(path)
    if stat.S_ISREG(mode):
        return FileTail(path)
    raise OSError(None, "is neither a file nor a device")
