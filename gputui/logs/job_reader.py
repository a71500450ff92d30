"""A job's log in, typed events out.

Feed :class:`JobReader` what a log holds, in pieces of any size; it gives back what is known of the
lines that were completed. :func:`read_job_log` does so for a whole log.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from gputui.logs.job_event import JobEvent
from gputui.logs.prefix import split_prefix
from gputui.logs.sieve import Sieve
from gputui.logs.statement import Statement, statement_of
from gputui.logs.texts import match
from gputui.secret_values import without_secrets
from gputui.text import decoded

_MOST_HALF_BYTES = 1 << 20
_BLOCK_BYTES = 1 << 18
_MOST_WAITING = 1000
_MOST_LISTED = 8
_COLOUR = re.compile(rb"\x1b\[[\d;]*[A-Za-z]")
_LISTS_RANKS = "horovod_missing"

_ISO = re.compile(
    r"(\d{4})[-/](\d\d)[-/](\d\d)[ T_](\d\d:\d\d:\d\d)(?:[.,](\d+))?(\s?(?:Z|[+-]\d\d:?\d\d))?"
)
_GLOG = re.compile(r"[DIWEF](\d\d?)(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d+))?")


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose log it is, as far as is known: the job, and the process that writes it alone.

    ``gpus`` maps the ranks that are known to the indices of their GPUs on this node.
    """

    job: str | None = None
    pid: int | None = None
    rank: int | None = None
    gpu: int | None = None
    host: str = ""
    gpus: tuple[tuple[int, int], ...] = ()

    def gpu_of(self, rank: int | None) -> int | None:
        """The GPU of a rank; that of the process where the line names no rank."""
        if rank is None:
            return self.gpu
        return next((gpu for known, gpu in self.gpus if known == rank), None)


@dataclass(frozen=True, slots=True)
class HeardText:
    """An event of a job's log, and the number of its line, from 1 where reading began.

    ``dated``: the log has told a time by then, so that the event's own is not a guess.
    """

    line: int
    event: JobEvent
    dated: bool = False


class JobReader:
    """Reads one log. Half lines wait for their end; what is no text does no harm."""

    def __init__(self, origin: Origin = Origin()) -> None:
        self.origin = origin
        self._sieve = Sieve()
        self._half = b""
        self._line = 0
        self.told_s: float | None = None
        """What the last line with a time of its own says (Unix time)."""

    def feed(self, data: bytes, now_s: float, *, live: bool = True) -> list[HeardText]:
        """Read on. What is ``live`` happened now; else when its line says, or at ``now_s``."""
        block = self._half + data if self._half else data
        end = block.rfind(b"\n") + 1
        self._half = block[end:]
        if len(self._half) > _MOST_HALF_BYTES:  # a progress bar without an end, or rubbish
            end, self._half = len(block), b""
        return self._read(block[:end], now_s, live=live) if end else []

    def rest(self, now_s: float, *, live: bool = True) -> list[HeardText]:
        """Read the half line: the last word of a process may lack its end."""
        half, self._half = self._half, b""
        return self._read(half, now_s, live=live) if half else []

    def forget(self) -> None:
        """What follows is another file."""
        self._half = b""

    def _read(self, block: bytes, now_s: float, *, live: bool) -> list[HeardText]:
        found = []
        for number, raw in self._sieve.pick(block):
            event = self._event(raw, now_s, live=live)
            if event is None:
                continue
            if event.pattern == _LISTS_RANKS:
                listed = _listed(block, number)
                event = _with_field(event, "ranks", ", ".join(map(str, listed)))
            dated = self.told_s is not None
            found.append(HeardText(self._line + number + 1, event, dated))
        self._line += block.count(b"\n")
        return found if live else _dated(found)

    def _event(self, raw: bytes, now_s: float, *, live: bool) -> JobEvent | None:
        raw = _COLOUR.sub(b"", raw)
        # A leading blank tells a continuation; decoding takes it off.
        indent = " " * (len(raw) - len(raw.lstrip(b" \t")))
        text = without_secrets(decoded(raw))
        statement = statement_of(indent + text)
        known = match(statement) if statement is not None else None
        if known is None or statement is None:
            return None
        origin, fields = self.origin, known.fields
        if statement.level:
            fields = (*fields, ("level", statement.level))
        if statement.nccl:
            fields = (*fields, ("nccl", statement.nccl))
        told_s = _time_s(statement, text, now_s)
        if told_s is not None:
            self.told_s = told_s
        rank = statement.rank if statement.rank is not None else origin.rank
        return JobEvent(
            pattern=known.fact.id,
            family=known.fact.family,
            time_s=now_s if live else (self.told_s if self.told_s is not None else now_s),
            text=text,
            job=origin.job,
            pid=statement.pid if statement.pid is not None else origin.pid,
            rank=rank,
            gpu=origin.gpu_of(statement.rank),
            host=statement.host or origin.host,
            fields=fields,
        )


def read_job_log(
    blocks: Iterable[bytes],
    origin: Origin = Origin(),
    *,
    now_s: float | None = None,
) -> Iterator[HeardText]:
    """What a whole log says, in order. ``blocks`` are its bytes, in pieces of any size.

    An event happened when its line says so; without a time of its own, when the last line with one
    says, or the first one that follows; at ``now_s`` if there is none.
    """
    reader = JobReader(origin)
    at_s = time.time() if now_s is None else now_s
    waiting: list[HeardText] = []
    for heard in _all(reader, blocks, at_s):
        if not heard.dated and len(waiting) < _MOST_WAITING:
            waiting.append(heard)
            continue
        if waiting:
            told_s = heard.event.time_s
            yield from (HeardText(one.line, replace(one.event, time_s=told_s)) for one in waiting)
            waiting = []
        yield heard
    yield from waiting


def _all(reader: JobReader, blocks: Iterable[bytes], at_s: float) -> Iterator[HeardText]:
    for block in blocks:
        for begin in range(0, len(block), _BLOCK_BYTES):
            yield from reader.feed(block[begin : begin + _BLOCK_BYTES], at_s, live=False)
    yield from reader.rest(at_s, live=False)


def _dated(found: list[HeardText]) -> list[HeardText]:
    """With those before the first one with a time at that time: a log is of one piece."""
    first = next((one.event.time_s for one in found if one.dated), None)
    if first is None or found[0].dated:
        return found
    return [
        one if one.dated else HeardText(one.line, replace(one.event, time_s=first), dated=True)
        for one in found
    ]


def _listed(block: bytes, number: int) -> list[int]:
    """The ranks that Horovod lists on the lines after one."""
    lines = block.split(b"\n")[number + 1 : number + 1 + _MOST_LISTED]
    ranks = []
    for line in lines:
        found = re.search(rb"(?:^|[>:\s])(\d{1,5}): \[", line)
        if found is None:
            break
        ranks.append(int(found[1]))
    return ranks


def _with_field(event: JobEvent, name: str, value: str) -> JobEvent:
    return replace(event, fields=(*event.fields, (name, value))) if value else event


def _time_s(statement: Statement, text: str, now_s: float) -> float | None:
    """When a line says that it was written (Unix time); the year is the newest that fits."""
    stamp = statement.stamp
    if found := _ISO.search(stamp):
        return _iso_s(found)
    if found := _GLOG.search(stamp):
        month, day, hour, minute, second = (int(found[number]) for number in range(1, 6))
        fraction = float(f"0.{found[6]}") if found[6] else 0.0
        for year in (time.localtime(now_s).tm_year, time.localtime(now_s).tm_year - 1):
            try:
                at_s = time.mktime((year, month, day, hour, minute, second, 0, 0, -1)) + fraction
            except (ValueError, OverflowError):
                return None
            if at_s <= now_s + 86_400:
                return at_s
        return None
    if text[:3].isalpha() and text[3:4] == " ":
        return split_prefix(text, now_s)[0].wall_s
    return None


def _iso_s(found: re.Match[str]) -> float | None:
    year, month, day = int(found[1]), int(found[2]), int(found[3])
    hour, minute, second = (int(part) for part in found[4].split(":"))
    fraction = float(f"0.{found[5]}") if found[5] else 0.0
    zone = (found[6] or "").strip()
    parts = (year, month, day, hour, minute, second, 0, 0, -1)
    try:
        if not zone:
            return time.mktime(parts) + fraction
        import calendar

        at_s = float(calendar.timegm(parts)) + fraction
    except (ValueError, OverflowError):
        return None
    if zone == "Z":
        return at_s
    offset_s = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
    return at_s - offset_s if zone[0] == "+" else at_s + offset_s
