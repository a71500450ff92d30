"""What stands before a kernel message: the many ways in which logs stamp it.

The kernel's own ring, dmesg in its modes, rsyslog and journalctl all put something else in front of
the same text. Only these are taken off; a message that another program printed keeps its name, and
is then no kernel message.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import cache

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_MONTH = "|".join(_MONTHS)

_PREFIX = rf"""
    (?:<\d{{1,3}}>)?                                              # syslog priority, raw
    (?:\d+,\d+,(?P<kmsg_us>\d+),[^;]*;)?                          # /dev/kmsg
    (?:[a-z]+\s*:[a-z]+\s*:\s?)?                                  # dmesg -x
    (?:
        (?P<iso>\d{{4}}-\d\d-\d\dT[\d:.,]+(?:Z|[+-]\d\d:?\d\d)?)\s # RFC 5424, dmesg --time-format
        (?:\S+\skernel:\s)?
      | (?P<month>{_MONTH})\s+(?P<day>\d\d?)\s(?P<clock>\d\d:\d\d:\d\d)(?:\.\d+)?\s
        (?:\S+\s)?kernel:\s                                       # rsyslog, journalctl
      | kernel:\s                                                 # journalctl -o cat and the like
    )?
    (?:\[\s*(?P<uptime>\d+\.\d+)\]\s?)?                           # the kernel's own
    (?:\[[A-Z][a-z]{{2}}\s(?P<date>(?:{_MONTH})\s+\d\d?\s\d\d:\d\d:\d\d\s\d{{4}})\]\s?)?  # dmesg -T
    (?:\[\s*[TC]\d+\]\s?)?                                        # thread or CPU
    \s*
    """


@dataclass(frozen=True, slots=True)
class Stamp:
    """When a line says it was written: a time of day (Unix), seconds since boot, or neither."""

    wall_s: float | None = None
    uptime_s: float | None = None


@cache
def _prefix() -> re.Pattern[str]:
    return re.compile(_PREFIX, re.VERBOSE)


def split_prefix(line: str, now_s: float) -> tuple[Stamp, str]:
    """Return the stamp and the message.

    ``now_s`` supplies the year where the log has none: a date that would lie more than a day ahead
    is of last year.
    """
    found = _prefix().match(line)
    if found is None:  # cannot be: everything in it may be absent
        return Stamp(), line
    message = line[found.end() :]
    wall_s = None
    if iso := found["iso"]:
        wall_s = _iso(iso)
    elif month := found["month"]:
        wall_s = _yearless(month, found["day"], found["clock"], now_s)
    elif date := found["date"]:
        wall_s = _local(date)
    if kmsg_us := found["kmsg_us"]:
        return Stamp(wall_s, int(kmsg_us) / 1e6), message
    uptime = found["uptime"]
    return Stamp(wall_s, float(uptime) if uptime else None), message


def _iso(text: str) -> float | None:
    from datetime import datetime  # few logs have such stamps, and it takes time to import

    text = text.replace(",", ".").replace("Z", "+00:00")
    if len(text) > 5 and text[-5] in "+-":
        text = f"{text[:-2]}:{text[-2:]}"
    whole, dot, rest = text.partition(".")
    if dot:
        digits = re.match(r"\d*", rest)
        fraction = digits[0] if digits else ""
        text = f"{whole}.{fraction[:6]:0<6}{rest[len(fraction) :]}"
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None


def _yearless(month: str, day: str, clock: str, now_s: float) -> float | None:
    year = time.localtime(now_s).tm_year
    for candidate in (year, year - 1):
        wall_s = _local(f"{month} {day} {clock} {candidate}")
        if wall_s is not None and wall_s <= now_s + 86_400:
            return wall_s
    return None


def _local(text: str) -> float | None:
    month, day, clock, year = text.split()
    try:
        hour, minute, second = (int(part) for part in clock.split(":"))
        parts = (int(year), _MONTHS.index(month) + 1, int(day), hour, minute, second, 0, 0, -1)
        return time.mktime(parts)
    except (ValueError, OverflowError):
        return None
