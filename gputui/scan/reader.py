"""One log, read from its beginning to its end: its events in order, each with its line.

What sort of log it is shows in its first lines: a kernel log, or a system's log with the kernel's
lines in it; a list of failures; or what a job has printed, in which the kernel's lines may be as
well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gputui.logs.host_lines import STORAGE_IS_SILENT
from gputui.logs.job_event import JobEvent
from gputui.logs.kernel import KernelEvent, KernelParser
from gputui.logs.months import MONTH
from gputui.logs.prefix import Stamp, split_prefix
from gputui.logs.records import MOST_AHEAD
from gputui.scan.candidates import candidates
from gputui.scan.failures import failures, is_list_of_failures
from gputui.scan.plain import PlainLines
from gputui.scan.shipped import as_logged, is_entry
from gputui.scan.unfolded import unfolded
from gputui.text import decoded

if TYPE_CHECKING:
    from gputui.logs.job_reader import HeardText

_MOST_BYTES = 1 << 13
"""Of a line with an event in it. What comes later in it is data."""

_REPEATED = b"last message repeated "
_COUNT = re.compile(rb"^[\w :.+-]*last message repeated (\d{1,6}) times\s*$")
_MOST_STAMP = 120
"""Within so many bytes of a line it says that it stands for several like the one before."""

_LINES_LOOKED_AT = 40
_COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
_ROTATED = re.compile(r"(?:[.-]\d+)?(?:\.(?:gz|bz2|xz|zst))?$")
_SYSTEM_LINE = re.compile(
    rf"(?:(?:{MONTH}) +\d\d? \d\d:\d\d:\d\d|\d{{4}}-\d\d-\d\dT\S+) \S+ "
    r"(?P<speaker>[\w.@/()-]+)(?:\[\d+\])?: "
)
_DAEMONS = re.compile(
    r"kernel|systemd|(?:ss|dock|contain|slurm|chrony|nt|audit|snap|polkit|rsyslog|smart|ras|mun)\w*d$|"
    r"c[rR][oO][nN]d?$|CROND?$|kubelet|k3s|NetworkManager|ModemManager|dbus|sudo$|su$|nvidia-|nv-|"
    r"dhc|dnsmasq|avahi|irqbalance|multipathd|cloud-init|nscd|sssd|automount|rpc\.|opensm|login|"
    r"logrotate|postfix|audisp|mcelog|telegraf|node_exporter|dcgm|gdm|udev|lvm|anacron|rngd|snmpd"
)
"""Who speaks in a system's log. A unit that runs a job speaks by the job's own program's name."""


@dataclass(frozen=True, slots=True)
class Located:
    """An event, the file and line it stands in, and the machine it is of.

    ``is_dated`` says whether its time is one of the calendar (Unix time). Otherwise it is seconds
    since a boot, or those of the last line that had a stamp.
    """

    event: KernelEvent | JobEvent
    file: str
    line: int
    host: str
    is_dated: bool


def kind_of(event: KernelEvent | JobEvent) -> str:
    """What an event is called: the kernel's by their kinds, a job's words by one name."""
    return "text" if isinstance(event, JobEvent) else event.kind


class _Clock:
    """Times of the lines of one log: what a line does not say is taken from those before it."""

    def __init__(self) -> None:
        self.is_dated = False
        self.last_s = 0.0
        self._boots_s = 0.0
        self._uptime_s = 0.0

    def time_s(self, stamp: Stamp) -> float:
        if stamp.wall_s is not None:
            self.is_dated = True
            self.last_s = stamp.wall_s
        elif not self.is_dated and stamp.uptime_s is not None:
            if stamp.uptime_s < self._uptime_s - 1.0:  # started anew: time goes on
                self._boots_s = self.last_s
            self._uptime_s = stamp.uptime_s
            self.last_s = self._boots_s + stamp.uptime_s
        return self.last_s


def host_of(name: str) -> str:
    """What a log's machine is called where its lines do not say: the log's name, without what
    rotation adds to it.
    """
    if name == "-":
        return "stdin"
    return _ROTATED.sub("", os.path.basename(name)) or name  # noqa: PTH119


def events(
    name: str, blocks: Iterator[bytes], now_s: float, *, numbered: bool = True
) -> Iterator[Located]:
    """The events in a log, in the order of its lines.

    ``now_s`` is when the log was last written: it supplies the year where stamps have none. Lines
    are counted only if they are to be ``numbered``.
    """
    blocks = unfolded(blocks)
    block = next(blocks, b"")
    if is_list_of_failures(block):
        yield from _listed(name, _chained(block, blocks))
        return
    job = None if _is_systems(block) else _JobLines(name, now_s)
    kernel = _KernelLines(name, now_s, numbered=numbered or job is not None)
    while block:
        following = next(blocks, b"")
        if job is None:
            yield from kernel.feed(block, following)
        else:
            found = [*kernel.feed(block, following), *job.feed(block)]
            yield from sorted(found, key=lambda one: one.line)
        block = following
    if job is not None:
        yield from job.rest()


def _is_systems(block: bytes) -> bool:
    """Whether a log is the kernel's or the system's, by its first lines."""
    lines = [decoded(line[:_MOST_BYTES]) for line in block[: 1 << 16].split(b"\n")]
    lines = [line for line in lines if line][:_LINES_LOOKED_AT]
    return 2 * sum(map(_is_of_system, lines)) >= len(lines)


def _is_of_system(line: str) -> bool:
    if is_entry(line):
        return True
    if spoken := _SYSTEM_LINE.match(line):
        return _DAEMONS.match(spoken["speaker"]) is not None
    line = as_logged(line)
    stamp, message = split_prefix(line, 0.0)
    is_kernels = stamp.uptime_s is not None or "kernel: " in line[: len(line) - len(message)]
    return is_kernels or message.startswith("NVRM:")


class _KernelLines:
    """The kernel's lines of one log, block by block."""

    def __init__(self, name: str, now_s: float, *, numbered: bool) -> None:
        self._name = name
        self._now_s = now_s
        self._numbered = numbered
        self._parser = KernelParser()
        self._plain = PlainLines(now_s)
        self._clock = _Clock()
        self._host = host_of(name)
        self._lines = 0
        self._has_silent_storage = False

    def feed(self, block: bytes, following: bytes) -> Iterator[Located]:
        """The events of a block; ``following`` is the one after it."""
        counted = 0
        for begin, end in self._candidates(block):
            if self._numbered:
                self._lines += block.count(b"\n", counted, begin)
                counted = begin
            raw = block[begin : min(end, begin + _MOST_BYTES)]
            plain = self._plain.read(raw)
            if plain is not None:
                stamp, message, parsed = plain
                yield self._located(
                    KernelEvent(
                        "xid",
                        self._clock.time_s(stamp),
                        message,
                        *parsed,
                        line=self._lines + 1,
                        host=stamp.host,
                        times=_times(block, end, following),
                    )
                )
                continue
            for piece in raw.split(b"\0") if b"\0" in raw else (raw,):
                event = self._read(piece, _Ahead(block, end, following))
                if event is not None:
                    more = _times(block, end, following) - 1
                    yield self._located(replace(event, times=event.times + more) if more else event)
        if self._numbered:
            self._lines += block.count(b"\n", counted)

    def _candidates(self, block: bytes) -> list[tuple[int, int]]:
        """The lines worth a closer look. That storage answers is news only after it was silent."""
        found = candidates(block, with_answers=self._has_silent_storage)
        if not self._has_silent_storage and any(
            words in block[begin:end] for begin, end in found for words in STORAGE_IS_SILENT
        ):
            self._has_silent_storage = True
            return candidates(block, with_answers=True)
        return found

    def _read(self, raw: bytes, ahead: _Ahead) -> KernelEvent | None:
        """The event on a line of any sort."""
        stamp, message = split_prefix(_text(raw), self._now_s)
        time_s = self._clock.time_s(stamp)
        return self._parser.read(stamp, message, time_s, number=self._lines + 1, ahead=ahead)

    def _located(self, event: KernelEvent) -> Located:
        self._host = event.host or self._host
        return Located(event, self._name, event.line, self._host, self._clock.is_dated)


class _JobLines:
    """What a job printed, block by block."""

    def __init__(self, name: str, now_s: float) -> None:
        from gputui.logs.job_reader import JobReader, Origin  # most logs need none of it

        self._name = name
        self._now_s = now_s
        self._host = host_of(name)
        self._reader = JobReader(Origin(job=self._host))

    def feed(self, block: bytes) -> list[Located]:
        """The known texts in a block."""
        return self._located(self._reader.feed(block, self._now_s, live=False))

    def rest(self) -> list[Located]:
        """Those of the last line, if it lacks its end."""
        return self._located(self._reader.rest(self._now_s, live=False))

    def _located(self, heard: list[HeardText]) -> list[Located]:
        return [
            Located(
                one.event if one.dated else replace(one.event, time_s=0.0),
                self._name,
                one.line,
                self._host,
                one.dated,
            )
            for one in heard
        ]


def _listed(name: str, blocks: Iterator[bytes]) -> Iterator[Located]:
    """The events of a list of failures. Each GPU has a life of its own: it may change its place."""
    for one in failures(blocks):
        yield Located(one.event, name, one.event.line, one.gpu, is_dated=True)


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


class _Ahead:
    """The lines after one, decoded as they are asked for."""

    __slots__ = ("_block", "_end", "_following")

    def __init__(self, block: bytes, end: int, following: bytes) -> None:
        self._block = block
        self._end = end
        self._following = following

    def __call__(self) -> Iterator[str]:
        """Return the lines, a few at most."""
        most = MOST_AHEAD * _MOST_BYTES
        rest = self._block[self._end + 1 : self._end + most]
        if len(rest) < most - 1:
            rest += self._following[: most - len(rest)]
        for line in rest.split(b"\n", MOST_AHEAD)[:MOST_AHEAD]:
            yield _text(line[:_MOST_BYTES])


def _times(block: bytes, end: int, following: bytes) -> int:
    """How often a line was said, by the one after it: some syslogs count instead of repeating."""
    at = block.find(_REPEATED, end, end + _MOST_STAMP)
    if at < 0:
        if end + _MOST_STAMP <= len(block) or _REPEATED not in following[:_MOST_STAMP]:
            return 1
        rest = following[:_MOST_STAMP]
    else:
        rest = block[end + 1 : at + _MOST_STAMP]
    found = _COUNT.search(rest.split(b"\n", 1)[0])
    return 1 if found is None else 1 + int(found[1])


def _text(raw: bytes) -> str:
    if b"\x1b" in raw:
        raw = _COLOURS.sub(b"", raw)
    text = decoded(raw)
    return as_logged(text)
