"""One log, read from its beginning to its end: its events in order, each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gputui.logs.kernel import KernelEvent, KernelParser
from gputui.logs.prefix import Stamp, split_prefix
from gputui.logs.records import MOST_AHEAD
from gputui.scan.candidates import candidates
from gputui.text import decoded

_MOST_BYTES = 1 << 13
"""Of a line with an event in it. What comes later in it is data."""

_COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
_ROTATED = re.compile(r"(?:[.-]\d+)?(?:\.(?:gz|bz2|xz|zst))?$")


@dataclass(frozen=True, slots=True)
class Located:
    """An event, the file it stands in, and the machine it is of.

    ``is_dated`` says whether its time is one of the calendar (Unix time). Otherwise it is seconds
    since a boot, or those of the last line that had a stamp.
    """

    event: KernelEvent
    file: str
    host: str
    is_dated: bool


class _Clock:
    """Times of the lines of one log: what a line does not say is taken from those before it."""

    def __init__(self) -> None:
        self.is_dated = False
        self._last_s = 0.0
        self._boots_s = 0.0
        self._uptime_s = 0.0

    def time_s(self, stamp: Stamp) -> float:
        if stamp.wall_s is not None:
            self.is_dated = True
            self._last_s = stamp.wall_s
        elif not self.is_dated and stamp.uptime_s is not None:
            if stamp.uptime_s < self._uptime_s - 1.0:  # started anew: time goes on
                self._boots_s = self._last_s
            self._uptime_s = stamp.uptime_s
            self._last_s = self._boots_s + stamp.uptime_s
        return self._last_s


def host_of(name: str) -> str:
    """What a log's machine is called where its lines do not say: the log's name, without what
    rotation adds to it.
    """
    return _ROTATED.sub("", name) or name


def kernel_events(name: str, blocks: Iterator[bytes], now_s: float) -> Iterator[Located]:
    """The kernel's events in a log, in the order of its lines.

    ``now_s`` is when the log was last written: it supplies the year where stamps have none.
    """
    parser, clock = KernelParser(), _Clock()
    host = host_of(name)
    lines = 0
    block = next(blocks, b"")
    while block:
        following = next(blocks, b"")
        counted = 0
        for begin, end in candidates(block):
            lines += block.count(b"\n", counted, begin)
            counted = begin
            raw = block[begin : min(end, begin + _MOST_BYTES)]
            for piece in raw.split(b"\0") if b"\0" in raw else (raw,):
                text = _text(piece)
                stamp, message = split_prefix(text, now_s)
                ahead = _Ahead(block, end, following)
                event = parser.read(
                    stamp, message, clock.time_s(stamp), number=lines + 1, ahead=ahead
                )
                if event is None:
                    continue
                host = event.host or host
                yield Located(event, name, host, clock.is_dated)
        lines += block.count(b"\n", counted)
        block = following


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


def _text(raw: bytes) -> str:
    if b"\x1b" in raw:
        raw = _COLOURS.sub(b"", raw)
    return decoded(raw)
