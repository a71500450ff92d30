"""The machine around the GPUs: CPU, memory, pressure, load, since when it is up.

All of it is read from seven small files of /proc (proc(5); Documentation/accounting/psi.rst for the
pressure), in about a tenth of a millisecond.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gputui.model import HostSample
from gputui.sources.files import NOT_SUPPORTED, NOT_THERE, OpenFiles, read_text, why
from gputui.sources.inlet import InletReader
from gputui.sources.reasons import garbage

TWO_NEEDED = "needs two readings"
NO_PRESSURE = "not measured by this kernel (psi=1 on its command line)"

_IDLE, _IOWAIT, _STEAL = 3, 4, 7
_SHORT_BYTES = 4096
_FULL_BYTES = 1 << 17
"""Of /proc/stat, whose lines of each CPU are counted once: enough for a thousand of them."""

_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class _Part:
    """One file, the fields of :class:`gputui.model.HostSample` in it, and how they are told."""

    path: str
    fields: tuple[str, ...]
    parse: Callable[[bytes], tuple[float, ...]]


def _load(data: bytes) -> tuple[float, ...]:
    one, five, fifteen = data.split()[:3]
    return float(one), float(five), float(fifteen)


def _memory(data: bytes) -> tuple[float, ...]:
    """Used and total bytes; the file tells kB, which are kibibytes."""
    kib = {}
    for line in data.split(b"\n"):
        name, _, rest = line.partition(b":")
        if name in (b"MemTotal", b"MemAvailable"):
            kib[name] = int(rest.split()[0])
    total = kib[b"MemTotal"]
    return (total - kib[b"MemAvailable"]) * 1024, total * 1024


def _pressure(data: bytes) -> tuple[float, ...]:
    """The ``some`` line's average over ten seconds."""
    for line in data.split(b"\n"):
        if line.startswith(b"some avg10="):
            return (float(line.split()[1].partition(b"=")[2]),)
    raise ValueError("no line that starts with some avg10=")


def _uptime(data: bytes) -> tuple[float, ...]:
    return (float(data.split()[0]),)


_PARTS = (
    _Part("proc/loadavg", ("load_1m", "load_5m", "load_15m"), _load),
    _Part("proc/meminfo", ("memory_used_bytes", "memory_total_bytes"), _memory),
    _Part("proc/pressure/cpu", ("cpu_pressure_percent",), _pressure),
    _Part("proc/pressure/memory", ("memory_pressure_percent",), _pressure),
    _Part("proc/pressure/io", ("io_pressure_percent",), _pressure),
    _Part("proc/uptime", ("uptime_s",), _uptime),
)


class HostReader:
    """Reads the host, again and again. ``root`` is where ``proc`` lies."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = str(root).rstrip("/")
        self._open = OpenFiles()
        self._times: tuple[int, int] | None = None
        self._cpu_count: int | None = None
        self._boot_id: str | None = None
        self._inlet = InletReader(root)

    def read(self) -> HostSample:
        """One reading. Never raises: what cannot be read is missing, with its reason."""
        values: dict[str, Any] = {}
        missing: dict[str, str] = {}
        self._cpu(values, missing)
        for part in _PARTS:
            try:
                found = part.parse(self._file(part.path))
            except OSError as error:
                missing.update(dict.fromkeys(part.fields, _reason(part, error)))
            except (ValueError, KeyError, IndexError):
                missing.update(dict.fromkeys(part.fields, self._garbage(part.path)))
            else:
                values.update(zip(part.fields, found, strict=True))
        self._boot(values, missing)
        values["inlet_c"], why_not = self._inlet.read()
        if why_not:
            missing["inlet_c"] = why_not
        return HostSample(**values, missing=missing)

    def _file(self, path: str, limit: int = _SHORT_BYTES) -> bytes:
        return self._open.read(f"{self._root}/{path}", limit)

    def _cpu(self, values: dict[str, Any], missing: dict[str, str]) -> None:
        """The share of all CPUs' time since the last reading that was neither idle nor I/O wait.

        Time of guests is in ``user`` already; time stolen by a hypervisor is none of ours to use,
        and counts as busy.
        """
        try:
            limit = _SHORT_BYTES if self._cpu_count else _FULL_BYTES
            lines = self._file("proc/stat", limit).split(b"\n")
            ticks = [int(number) for number in lines[0].split()[1 : _STEAL + 2]]
            total, busy = sum(ticks), sum(ticks) - ticks[_IDLE] - ticks[_IOWAIT]
        except OSError as error:
            missing.update(dict.fromkeys(("cpu_percent", "cpu_count"), why(error)))
            return
        except (ValueError, IndexError):
            missing.update(dict.fromkeys(("cpu_percent", "cpu_count"), self._garbage("proc/stat")))
            return
        if not self._cpu_count:
            self._cpu_count = sum(line.startswith(b"cpu") for line in lines) - 1
        values["cpu_count"] = self._cpu_count
        before = self._times
        if before is None:
            self._times = total, busy
            missing["cpu_percent"] = TWO_NEEDED
        elif total > before[0]:
            self._times = total, busy
            # The kernel's idle times may step back a little (proc(5)).
            share = (busy - before[1]) / (total - before[0])
            values["cpu_percent"] = round(100 * min(max(share, 0.0), 1.0), 1)
        else:
            missing["cpu_percent"] = "no time has passed"

    def _boot(self, values: dict[str, Any], missing: dict[str, str]) -> None:
        if self._boot_id is None:
            try:
                self._boot_id = read_text(f"{self._root}/proc/sys/kernel/random/boot_id")
            except OSError as error:
                missing["boot_id"] = why(error)
                return
        values["boot_id"] = self._boot_id

    def _garbage(self, path: str) -> str:
        try:
            return garbage(repr(read_text(f"{self._root}/{path}")[:_SHOWN_CHARACTERS]))
        except OSError as error:
            return why(error)


def _reason(part: _Part, error: OSError) -> str:
    """A kernel without pressure has no files of it; one that is told not to measure refuses."""
    reason = why(error)
    if part.parse is _pressure and reason in (NOT_THERE, NOT_SUPPORTED):
        return NO_PRESSURE
    return reason
