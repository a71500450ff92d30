"""What stands before a kernel message: the many ways in which logs stamp it.

The kernel's own ring, dmesg in its modes, rsyslog and journalctl all put something else in front of
the same text; grep, pdsh and container runtimes wrap what was stamped. Only these are taken off; a
message that another program printed keeps its name, and is then no kernel message.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import cache, lru_cache

from gputui.logs.months import MONTH, MONTHS, month_number

_MONTH = "|".join(MONTHS)
_SPOKEN_BY_KERNEL = (
    r"(?:(?:kern\.\w+\s)?kernel(?:\[(?:\d+|n/a)\])?:(?:\s|(?=\[\s*\d|NVRM:|nvidia))"
    r"|nv-fabricmanager\[\d+\]:\s+(?:\[[^\]]*\]\s*)*(?=detected\sNVSwitch|fabric\smanager\sNVIDIA))"
)
"""Or by the Fabric Manager, of which a few messages are read as well."""

_PREFIX = rf"""
    (?:<\d{{1,3}}>(?:1\s(?=\d{{4}}-))?)?                          # syslog priority, raw
    (?:\d+,\d+,(?P<kmsg_us>\d+),[^;]*;)?                          # /dev/kmsg
    (?:[a-z\d]{{3,8}}\s*:(?:emerg|alert|crit|err|warn|notice|info|debug)\s*:\s?)?  # dmesg -x
    (?:
        (?:[A-Z][a-z]{{2}}\s)?                                    # journalctl -o short-full
        (?P<day>\d{{4}}-\d\d-\d\d)[T\s](?P<clock>\d\d:\d\d:\d\d)  # RFC 5424, dmesg --time-format
        (?P<fraction>[.,]\d+)?\s?(?P<zone>Z|UTC|[+-]\d\d:?\d\d)?(?:\s[A-Z]{{3,4}}(?=\s))?\s+
        (?:(?P<host>\S+)\s{_SPOKEN_BY_KERNEL}
          |(?P<host_5424>\S+)\skernel\s\S+\s\S+\s(?:-|\[[^\]]*\])\s
          |(?:\w\w\(\d+\)\s)?(?:vmkernel:\s)?cpu\d+:\d+(?:\s\w+=\w+)?\)   # vmkernel of ESXi
        )?
      | (?P<month>{MONTH})\s+(?P<month_day>\d\d?)\s(?:(?P<year>\d{{4}})\s)?
        (?P<month_clock>\d\d:\d\d:\d\d)(?P<month_fraction>\.\d+)?\s
        (?:(?:(?P<month_host>\S+)\s)?{_SPOKEN_BY_KERNEL}          # rsyslog, journalctl
          |(?=\[\s*\d+\.\d+\]\s))                               # dmesg --follow | ts
      | (?P<unix>\d{{9,11}}\.\d+)\s(?P<unix_host>\S+)\skernel:\s  # journalctl -o short-unix
      | kernel:(?:\s|(?=\[\s*\d|NVRM:|nvidia))   # journalctl --no-hostname, syslogd to terminals
    )?
    (?:\[\s*(?P<uptime>\d+\.\d+)(?:\s*<\s*\d+\.\d+\s*>)?\]\s?     # the kernel's own, dmesg -d
       (?:(?P<uptime_host>[\w.-]+)\skernel:\s)?                   # journalctl -o short-monotonic
    )?
    (?:\[(?:[A-Z][a-z]{{2}}\s)?(?P<date_month>{_MONTH})\s+(?P<date_day>\d\d?)\s
       (?P<date_clock>\d\d:\d\d:\d\d)\s(?P<date_year>\d{{4}})\]\s?)?                 # dmesg -T
    (?:\[(?P<fm_month>{_MONTH})\s+(?P<fm_day>\d\d?)\s(?P<fm_year>\d{{4}})\s
       (?P<fm_clock>\d\d:\d\d:\d\d)\]\s)?                         # the Fabric Manager's own log
    (?:\[(?:(?:{_MONTH})\s*\d\d?\s\d\d:\d\d|\s*\+\d+\.\d+|\s*<\s*\d+\.\d+\s*>)\]\s?)?  # dmesg -e
    (?:\[\s*[TC]\d+\]\s?)?                                        # thread or CPU
    \s*
    """

_STAMPED = rf"""(?:
    (?:[a-z\d]{{3,8}}\s*:\w+\s*:\s?)?\[\s*\d+\.\d+\]\s
  | \[[A-Z][a-z]{{2}}\s[A-Z][a-z]{{2}}\s+\d\d?\s[\d:]{{8}}\s\d{{4}}\]
  | (?:{MONTH})\s+\d\d?\s(?:\d{{4}}\s)?\d\d:\d\d:\d\d
  | \d{{4}}-\d\d-\d\dT[\d:]{{8}}(?:[.,]\d+)?(?:Z|[+-][\d:]{{4,5}})\s
    (?:\S+\skernel:|NVRM|nvidia|(?:stdout|stderr)\s[FP]\s)
)"""
"""How a line of the kernel's begins that a tool may have wrapped: without a stamp it is a quote."""

_WRAPPER = rf"""
    [\ufeff\ufffd]?                                              # byte order mark, as decoded
    (?:(?:[^\s:\[<]+:)?(?:\d+[:-])?(?={_STAMPED}))?               # grep, grep -n
    (?:(?P<host>[\w.:-]*[\w.-])(?::|\s*\|)\s+(?={_STAMPED}|kern:\s))?  # pdsh, clush, talosctl
    (?:
        (?:kern:\s+\w+:\s+\[)?                                   # talosctl dmesg
        (?P<day>\d{{4}}-\d\d-\d\d)T(?P<clock>\d\d:\d\d:\d\d)(?P<fraction>\.\d+)?Z
        (?:(?<=Z)\]:\s | \s(?:stdout|stderr)\s[FP]\s(?={_STAMPED}))  # CRI
    )?
    """

_DRIVERS = ("NVRM", "nvidia", "pcieport")
_TAB = "#011"
"""How rsyslog writes a tab."""

_TRACE = re.compile(
    r"\s*\S.{0,40}?-\d+\s+(?:\(\s*[\d-]+\)\s+)?\[\d+\]\s+(?:\S+\s+)?(?P<uptime>\d+\.\d+):\s+"
    r"(?:\w+:)?(?=nvidia_dev_xid:)"
)
"""What ftrace, and perf script, write before an event: task, CPU, flags, the trace clock's time."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """When a line says it was written: a time of day (Unix), seconds since boot, or neither.

    ``host`` is the machine that the line names. ``bare`` says that nothing at all stood in front.
    """

    wall_s: float | None = None
    uptime_s: float | None = None
    host: str | None = None
    bare: bool = False


_NOTHING = Stamp(bare=True)

_UPTIME = re.compile(r"\[ *(\d+\.\d+)\] (?:\[ *[TC]\d+\] )?(?=NVRM|nvidia)")
"""The commonest by far: the kernel's own stamp, and the driver's word right after it."""


@cache
def _prefix() -> re.Pattern[str]:
    return re.compile(_PREFIX, re.VERBOSE)


@cache
def _wrapper() -> re.Pattern[str]:
    return re.compile(_WRAPPER, re.VERBOSE)


@cache
def _stamped() -> re.Pattern[str]:
    return re.compile(_STAMPED, re.VERBOSE)


def is_stamped(line: str) -> bool:
    """Whether a line begins as the kernel's lines do in a log, with its stamp."""
    return _stamped().match(line) is not None


def split_prefix(line: str, now_s: float) -> tuple[Stamp, str]:
    """Return the stamp and the message.

    ``now_s`` supplies the year where the log has none: a date that would lie more than a day ahead
    is of last year.
    """
    plain = _UPTIME.match(line)
    if plain is not None:
        return Stamp(uptime_s=float(plain[1])), line[plain.end() :]
    if _TAB in line:
        line = line.replace(_TAB, "\t")
    stamp, message = _split(line, now_s)
    if line.startswith("[") or message.startswith(_DRIVERS):  # nothing was put in front
        return stamp, message
    wrapped = _wrapper().match(line)
    if wrapped is None or wrapped.end() == 0:
        return stamp, message
    return _unwrapped(wrapped, line, now_s)


def _unwrapped(wrapped: re.Match[str], line: str, now_s: float) -> tuple[Stamp, str]:
    """The same for a line in front of which a tool that carried it has put something."""
    stamp, message = _split(line[wrapped.end() :], now_s)
    wall_s = stamp.wall_s
    if wall_s is None and (day := wrapped["day"]):
        wall_s = _iso(day, wrapped["clock"], wrapped["fraction"], "Z")
    is_bare = stamp.bare and wrapped["day"] is None
    return Stamp(wall_s, stamp.uptime_s, stamp.host or wrapped["host"], is_bare), message


def _split(line: str, now_s: float) -> tuple[Stamp, str]:
    found = _prefix().match(line)
    if found is None or found.end() == 0:
        traced = _TRACE.match(line) if "nvidia_dev_xid:" in line else None
        if traced is None:
            return _NOTHING, line
        return Stamp(uptime_s=float(traced["uptime"])), line[traced.end() :]
    if found.lastgroup is None:
        return Stamp(bare=not found[0].strip()), line[found.end() :]
    parts = found.groupdict()
    uptime = parts["uptime"]
    uptime_s = float(uptime) if uptime else None
    if parts["kmsg_us"]:
        uptime_s = int(parts["kmsg_us"]) / 1e6
    wall_s = host = None
    if day := parts["day"]:
        wall_s = _iso(day, parts["clock"], parts["fraction"], parts["zone"] or "")
        host = parts["host"] or parts["host_5424"]
    elif month := parts["month"]:
        clock, fraction = parts["month_clock"], parts["month_fraction"]
        wall_s = _of_month(month, parts["month_day"], parts["year"], clock, now_s)
        if wall_s is not None and fraction:
            wall_s += float(fraction)
        host = parts["month_host"]
    elif unix := parts["unix"]:
        wall_s, host = float(unix), parts["unix_host"]
    elif month := parts["date_month"]:
        wall_s = _of_month(month, parts["date_day"], parts["date_year"], parts["date_clock"], now_s)
    elif month := parts["fm_month"]:
        wall_s = _of_month(month, parts["fm_day"], parts["fm_year"], parts["fm_clock"], now_s)
    return Stamp(wall_s, uptime_s, host or parts["uptime_host"]), line[found.end() :]


def _iso(day: str, clock: str, fraction: str | None, zone: str) -> float | None:
    midnight_s = _midnight_s(day, zone)
    if midnight_s is None:
        return None
    if zone:
        seconds = midnight_s + _seconds(clock)
    else:
        year, month, date = day.split("-")
        local_s = _local(int(year), int(month), int(date), clock)
        if local_s is None:
            return None
        seconds = local_s
    return seconds + (float(f"0.{fraction[1:]}") if fraction else 0.0)


@lru_cache(maxsize=64)
def _midnight_s(day: str, zone: str) -> float | None:
    """When a day began in a zone; in a log one day is asked for again and again."""
    from datetime import datetime, timezone  # few logs have such stamps; it takes time to import

    try:
        midnight = datetime.fromisoformat(day).replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    offset_s = 0
    if zone[:1] in ("+", "-"):
        offset_s = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
        offset_s = -offset_s if zone[0] == "-" else offset_s
    return midnight.timestamp() - offset_s


def _seconds(clock: str) -> int:
    return int(clock[:2]) * 3600 + int(clock[3:5]) * 60 + int(clock[6:8])


def _of_month(month: str, day: str, year: str | None, clock: str, now_s: float) -> float | None:
    number = month_number(month)
    if number is None:
        return None
    if year:
        return _local(int(year), number, int(day), clock)
    this_year = _year(now_s // 3600)
    for candidate in (this_year, this_year - 1):
        wall_s = _local(candidate, number, int(day), clock)
        if wall_s is not None and wall_s <= now_s + 86_400:
            return wall_s
    return None


@lru_cache(maxsize=4)
def _year(hour: float) -> int:
    return time.localtime(hour * 3600).tm_year


def _local(year: int, month: int, day: int, clock: str) -> float | None:
    hour_s = _hour_s(year, month, day, int(clock[:2]))
    if hour_s is None:
        return None
    return hour_s + int(clock[3:5]) * 60 + int(clock[6:8])


@lru_cache(maxsize=256)
def _hour_s(year: int, month: int, day: int, hour: int) -> float | None:
    """When an hour began here. An hour with a change of summer time in it is told as it began."""
    try:
        return time.mktime((year, month, day, hour, 0, 0, 0, 0, -1))
    except (ValueError, OverflowError):
        return None
