"""The node's kernel log: what the driver and the kernel print, and the files that show it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fakes.clock import Epoch

_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class KernelLine:
    """One line. ``at_us`` is the run's time; the text has no prefix."""

    at_us: int
    text: str


Listener = Callable[[KernelLine], None]


class KernelLog:
    """The ring buffer (bounded, as the kernel's is) and whoever listens to it."""

    def __init__(self) -> None:
        self.lines: deque[KernelLine] = deque(maxlen=_KEPT)
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Call ``listener`` with every line from now on."""
        self._listeners.append(listener)

    def unlisten(self, listener: Listener) -> None:
        """Call ``listener`` no more."""
        self._listeners.remove(listener)

    def write(self, at_us: int, text: str) -> None:
        """Add a line."""
        line = KernelLine(at_us, text)
        self.lines.append(line)
        for listener in self._listeners:
            listener(line)


class KernelLogFile:
    """A view of the kernel log as rsyslog writes it to /var/log/kern.log.

    ``epoch`` is where the run lies on the calendar; ``uptime_s`` how long the node had been up when
    it began.
    """

    def __init__(self, path: Path, hostname: str, epoch: Epoch, uptime_s: float) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._hostname = hostname
        self.epoch = epoch
        self._uptime_s = uptime_s

    def __call__(self, line: KernelLine) -> None:
        """Write one line, at once."""
        unix_us = self.epoch.unix_us(line.at_us)
        stamp = time.strftime("%b %e %H:%M:%S", time.localtime(unix_us / 1e6))
        uptime_s = self._uptime_s + (unix_us - self.epoch.began_us) / 1e6
        uptime = f"[{uptime_s:12.6f}]"
        self._file.write(f"{stamp} {self._hostname} kernel: {uptime} {line.text}\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
