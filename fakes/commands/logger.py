"""``logger``: a line for the system's log (util-linux)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.services import UnitLine
from fakes.world import World

_FLAGS = {"s": "stderr", "i": "id", "d": "udp", "T": "tcp", "e": "skip-empty"}
_VALUES = {"t": "tag", "p": "priority", "f": "file", "n": "server", "P": "port", "u": "socket"}
_LEVELS = {"emerg": 0, "panic": 0, "alert": 1, "crit": 2, "err": 3, "error": 3, "warning": 4,
           "warn": 4, "notice": 5, "info": 6, "debug": 7}  # fmt: skip
_FACILITIES = {"kern": 0, "user": 1, "mail": 2, "daemon": 3, "auth": 4, "syslog": 5, "lpr": 6,
               "news": 7, "uucp": 8, "cron": 9, "authpriv": 10, "ftp": 11, "security": 4,
               **{f"local{number}": 16 + number for number in range(8)}}  # fmt: skip
_ERROR = 3
_USUAL = "user.notice"


@command("logger", latency_us=5_000)
def main(
    argv: Sequence[str], node: Node, world: World, user: str, stdin: TextIO | None,
    read_file: Callable[[str], str], err: TextIO,
) -> int:  # fmt: skip
    """Take the lines into the node's journal; with ``-s`` show them too."""
    try:
        options, words = parse(
            argv, _FLAGS, _VALUES, ("msgid", "size", "rfc5424"), ("id", "journald", "no-act")
        )
    except UnknownOptionError as error:
        err.write(f"logger: {error}\n")
        return NOT_UNDERSTOOD
    facility, _, level = options.get("priority", _USUAL).rpartition(".")
    if level.lower() not in _LEVELS or (facility and facility.lower() not in _FACILITIES):
        unknown = "facility" if level.lower() in _LEVELS else "priority"
        err.write(f"logger: unknown {unknown} name: {options['priority']}\n")
        return 1
    number = _FACILITIES[facility.lower() or "user"] * 8 + _LEVELS[level.lower()]
    if words:
        lines = [" ".join(words)]
    elif "file" in options:
        try:
            lines = read_file(options["file"]).splitlines()
        except OSError as error:
            err.write(f"logger: file {options['file']}: {error.strerror or 'cannot be read'}\n")
            return 1
    else:
        lines = stdin.read().splitlines() if stdin else []
    tag = options.get("tag", user)
    if "stderr" in options:
        stamp = time.strftime(
            "%b %e %H:%M:%S", time.localtime(node.epoch.unix_us(world.now_us) / 1e6)
        )
        err.writelines(f"<{number}>{stamp} {tag}: {line}\n" for line in lines)
    if "no-act" not in options:
        is_error = _LEVELS[level.lower()] <= _ERROR
        for line in lines:
            node.services.lines.append(UnitLine(world.now_us, "", tag, 0, line, is_error))
    return 0
