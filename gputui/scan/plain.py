"""The line that there is most of, an Xid as today's drivers print it, taken apart at once.

Everything else goes the long way, through :mod:`gputui.logs.prefix` and :mod:`gputui.logs.records`.
What comes out is the same: what a stamp means is asked there, once an hour of the log's time.
"""

from __future__ import annotations

import re

from gputui.logs.grammar import PlainXid, plain_xid
from gputui.logs.prefix import Stamp, split_prefix

_BEGINS = "NVRM: Xid ("
_SHORTEST_TEXT = 9
"""A line with less text may go on with the next."""

_MOST_KNOWN = 500

_UPTIME = re.compile(
    r"(?:<\d{1,3}>|[a-z\d]{3,8} *:[a-z]{3,6} *: ?)?\[ *(\d+\.\d+)\] (?:\[ *[TC]\d+\] )?$"
)
_CLOCK = re.compile(
    r"([^:]*\d\d:)(\d\d):(\d\d(?:\.\d+)?)"
    r"([^:\[]*(?::\d\d)?[^:\[]*(?:kernel: |\]) ?)(?:\[ *\d+\.\d+\] )?$"
)
"""To the hour, its minutes and seconds, and what follows: a zone, the machine, who speaks."""

_MACHINE = re.compile(r"(Z?|[+-]\d\d:\d\d) ([a-z][\w.-]*) kernel: ")
_ANY_MACHINE = "a-machine"
_AN_HOUR_S, _A_DAY_S = 3600.0, 86_400.0


class PlainLines:
    """Remembers what the stamps of one log mean, of some hours; ``now_s`` as in ``prefix``."""

    def __init__(self, now_s: float) -> None:
        self._now_s = now_s
        self._hours: dict[tuple[str, str], Stamp] = {}

    def read(self, raw: bytes) -> tuple[Stamp, str, PlainXid] | None:
        """A line's stamp, its message as it is, and what that says; None for any other line."""
        if not raw.isascii():
            return None
        text = raw.decode("ascii")
        at = text.find(_BEGINS)
        if at < 0 or not text.isprintable():
            return None
        message = text[at:].rstrip()
        parsed = plain_xid(message)
        if parsed is None or len(parsed[-1]) < _SHORTEST_TEXT or "\\x0a" in message:
            return None
        stamp = self._stamp(text[:at])
        return None if stamp is None else (stamp, message, parsed)

    def _stamp(self, head: str) -> Stamp | None:
        uptime = _UPTIME.match(head)
        if uptime is not None:
            return Stamp(uptime_s=float(uptime[1]))
        clock = _CLOCK.match(head)
        if clock is None:
            return None
        front, minute, seconds, back = clock.groups()
        host = None
        if machine := _MACHINE.fullmatch(back):
            zone, host = machine.groups()
            back = f"{zone} {_ANY_MACHINE} kernel: "
        hour = self._hours.get((front, back))
        if hour is None:
            hour, rest = split_prefix(f"{front}00:00{back}{_BEGINS}", self._now_s)
            if rest != _BEGINS or (host is not None and hour.host != _ANY_MACHINE):
                return None
            if len(self._hours) >= _MOST_KNOWN:
                self._hours.clear()
            self._hours[front, back] = hour
        if hour.wall_s is None:
            return None
        wall_s = hour.wall_s + 60 * int(minute) + float(seconds)
        if wall_s > self._now_s + _A_DAY_S - _AN_HOUR_S:
            return None  # a date without its year may be of last year
        return Stamp(wall_s, None, host or hour.host)
