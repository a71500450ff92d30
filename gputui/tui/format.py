"""Numbers as people read them, in few cells. Everything here takes plain values and gives text."""

from __future__ import annotations

import time

from gputui.age import age

_GIB = 1 << 30
_MIB = 1 << 20


def duration(seconds: float) -> str:
    """How long something has run, in at most five cells: ``42s``, ``12m``, ``3h05``, ``2d04``."""
    whole = max(int(seconds), 0)
    if whole < 3600:
        return age(whole)
    if whole < 86400:
        return f"{whole // 3600}h{whole % 3600 // 60:02}"
    if whole < 100 * 86400:
        return f"{whole // 86400}d{whole % 86400 // 3600:02}"
    return f"{min(whole // 86400, 9999)}d"


def clock(unix_s: float) -> str:
    """The local time of day, ``12:31:07``."""
    try:
        return time.strftime("%H:%M:%S", time.localtime(unix_s))
    except (OverflowError, ValueError, OSError):  # a recording may claim any time
        return "--:--:--"


def minutes(seconds: float) -> str:
    """A place in a recording: ``4:10``, ``1:04:10``."""
    whole = max(int(seconds), 0)
    hours = f"{whole // 3600}:" if whole >= 3600 else ""
    return f"{hours}{whole % 3600 // 60:0{2 if hours else 1}}:{whole % 60:02}"


def percent(value: float | None) -> str:
    """``93%``, or nothing for a reading that is missing."""
    return "" if value is None else f"{value:.0f}%"


def size(count: int) -> str:
    """Bytes in at most five cells, in binary units: ``0``, ``512M``, ``9.8G``, ``1.2T``."""
    if count < _MIB:
        return "0" if count <= 0 else "<1M"
    if count < 1000 * _MIB:
        return f"{count // _MIB}M"
    gib = count / _GIB
    if gib < 9.95:
        return f"{gib:.1f}G"
    if gib < 999.5:
        return f"{gib:.0f}G"
    return f"{gib / 1024:.1f}T"


def mib(count: int) -> str:
    """Bytes in mebibytes, ``61440 MiB``."""
    return f"{count // _MIB} MiB"


def used_of_total(used: int | None, total: int | None) -> str:
    """Memory in gibibytes, ``61/80G``; what is missing shows as ``?``."""
    if used is None and total is None:
        return ""
    top = "?" if total is None else _gib(total)
    return f"{'?' if used is None else _gib(used)}/{top}G"


def _gib(count: int) -> str:
    gib = count / _GIB
    return f"{gib:.1f}" if 0 < gib < 9.95 else f"{gib:.0f}"


def watts(power_mw: int) -> str:
    """Power without its unit: ``641``."""
    return f"{power_mw / 1000:.0f}"


def power(power_mw: int | None, limit_mw: int | None, width: int) -> str:
    """Power and its limit, ``641/700W``, or the power alone where ``width`` cells hold no more."""
    if power_mw is None and limit_mw is None:
        return ""
    now = "?" if power_mw is None else watts(power_mw)
    if limit_mw is not None:
        both = f"{now}/{watts(limit_mw)}W"
        if len(both) <= width:
            return both
    return f"{now}W"


def rates(received: int | None, sent: int | None) -> str:
    """Bytes a second in and out, in one decimal unit: ``1.2/1.0G``, ``980/12M``."""
    if received is None and sent is None:
        return ""
    known = max(received or 0, sent or 0)
    if known >= 1_000_000_000:
        shown = ("?" if value is None else f"{value / 1e9:.1f}" for value in (received, sent))
        return "/".join(shown) + "G"
    shown = ("?" if value is None else f"{value / 1e6:.0f}" for value in (received, sent))
    return "/".join(shown) + "M"


def milliseconds(microseconds: int) -> str:
    """A round-trip time without its unit: ``0.18``, ``2.4``, ``120``."""
    value = microseconds / 1000
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def bar(fraction: float, width: int, blocks: str, track: str) -> str:
    """A bar of exactly ``width`` cells; ``blocks`` are the steps of one cell, the last whole."""
    steps = len(blocks)
    filled = round(min(max(fraction, 0.0), 1.0) * width * steps)
    if filled == 0 and fraction > 0:
        filled = 1
    whole, part = divmod(filled, steps)
    text = blocks[-1] * whole + (blocks[part - 1] if part else "")
    return text + track * (width - len(text))


def plural(count: int, noun: str) -> str:
    """``1 incident``, ``2 incidents``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
