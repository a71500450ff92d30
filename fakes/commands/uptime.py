"""``uptime``, ``who -b`` and ``last reboot``: since when the node is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.kernel import RELEASE
from fakes.system.uptime import booted_unix_s, load_average


@command("uptime", latency_us=5_000)
def uptime(
    argv: Sequence[str], node: Node, clock: Callable[[], float], out: TextIO, err: TextIO
) -> int:
    """As procps prints it: the time, for how long it is up, the load."""
    try:
        options, _ = parse(argv, {"p": "pretty", "s": "since", "V": "version", "h": "help"}, {})
    except UnknownOptionError as error:
        err.write(f"uptime: {error}\n")
        return NOT_UNDERSTOOD
    now_s, began_s = clock(), booted_unix_s(node)
    if "since" in options:
        out.write(_stamp(began_s, "%Y-%m-%d %H:%M:%S") + "\n")
    elif "pretty" in options:
        out.write(f"up {_pretty(now_s - began_s)}\n")
    elif "version" in options:
        out.write("uptime from procps-ng 3.3.17\n")
    else:
        loads = ", ".join(f"{load:.2f}" for load in load_average(node))
        up = _span(now_s - began_s)
        out.write(f" {_stamp(now_s, '%H:%M:%S')} up {up},  1 user,  load average: {loads}\n")
    return 0


@command("who", latency_us=5_000)
def who(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """With ``-b`` when it was booted, with ``-r`` its runlevel; logged in is nobody."""
    flags = {
        "b": "boot", "r": "runlevel", "q": "count", "u": "users", "H": "heading", "a": "all",
        "m": "me", "s": "short",
    }  # fmt: skip
    try:
        options, _ = parse(argv, flags, {})
    except UnknownOptionError as error:
        err.write(f"who: {error}\n")
        return NOT_UNDERSTOOD
    began = _stamp(booted_unix_s(node), "%Y-%m-%d %H:%M")
    if {"boot", "all"} & set(options):
        out.write(f"         system boot  {began}\n")
    if {"runlevel", "all"} & set(options):
        out.write(f"         run-level 5  {began}\n")
    if "count" in options:
        out.write("\n# users=0\n")
    return 0


@command("last", "lastb", latency_us=10_000)
def last(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """The boots of the node, the newest first; nobody has logged in."""
    flags = {"x": "system", "F": "fulltimes", "R": "nohostname", "w": "fullnames", "a": "hostlast",
             "d": "dns", "i": "ip"}  # fmt: skip
    words = [f"-n{word[1:]}" if word[1:].isdecimal() and word[0] == "-" else word for word in argv]
    try:
        options, who_for = parse(words, flags, {"n": "limit", "s": "since", "t": "until"})
    except UnknownOptionError as error:
        err.write(f"last: {error}\n")
        return NOT_UNDERSTOOD
    form = "%a %b %e %H:%M:%S %Y" if "fulltimes" in options else "%a %b %e %H:%M"
    boots = [booted_unix_s(node)]
    if node.booted_us is not None:
        boots.append(node.epoch.unix_us(0) / 1e6 - _LONG_AGO_S)
    limit = options.get("limit", "")
    if limit.isdecimal():
        boots = boots[: int(limit)]
    if not who_for or "reboot" in who_for:
        for began_s in boots:
            out.write(
                f"reboot   system boot  {RELEASE[:16]} {_stamp(began_s, form)}   still running\n"
            )
    out.write(f"\nwtmp begins {_stamp(boots[-1] if boots else 0.0, '%a %b %e %H:%M:%S %Y')}\n")
    return 0


_LONG_AGO_S = 3 * 86_400.0


def _stamp(unix_s: float, form: str) -> str:
    return time.strftime(form, time.localtime(unix_s))


def _span(seconds: float) -> str:
    """``3 days,  1:02`` or ``5 min``."""
    days, rest = divmod(int(seconds), 86_400)
    hours, minutes = rest // 3600, rest % 3600 // 60
    clock = f"{hours:>2}:{minutes:02d}" if hours else f"{minutes} min"
    return f"{days} day{'s' if days > 1 else ''}, {clock}" if days else clock


def _pretty(seconds: float) -> str:
    """``3 days, 1 hour, 2 minutes``."""
    rest = int(seconds)
    said = []
    for name, size in (("week", 604_800), ("day", 86_400), ("hour", 3600), ("minute", 60)):
        number, rest = divmod(rest, size)
        if number:
            said.append(f"{number} {name}{'s' if number > 1 else ''}")
    return ", ".join(said) or "0 minutes"
