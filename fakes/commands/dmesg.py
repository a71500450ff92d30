"""``dmesg``: the kernel's ring (util-linux).

Filters by level take everything: the lines here are the driver's, which are of the levels that
scripts ask for.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.uptime import uptime_s

_FLAGS = {
    "T": "ctime", "x": "decode", "H": "human", "k": "kernel", "u": "userspace", "r": "raw",
    "t": "notime", "P": "nopager", "e": "reltime", "w": "follow", "d": "show-delta",
    "c": "read-clear", "C": "clear", "h": "help", "V": "version", "J": "json", "p": "force-prefix",
}  # fmt: skip
_VALUES = {"l": "level", "f": "facility", "n": "console-level", "s": "buffer-size"}
_LONG_VALUES = ("level", "facility", "since", "until", "color", "time-format")


@command("dmesg", latency_us=5_000)
def main(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """Print it."""
    try:
        options, words = parse(argv, _FLAGS, _VALUES, _LONG_VALUES)
    except UnknownOptionError as error:
        err.write(f"dmesg: {error}\n")
        return NOT_UNDERSTOOD
    if words:
        err.write("dmesg: bad usage\nTry 'dmesg --help' for more information.\n")
        return 1
    style = options.get("time-format", "")
    for line in node.kernel_log.lines:
        if "userspace" in options and "kernel" not in options:
            continue
        if node.booted_us is not None and line.at_us < node.booted_us:
            continue  # of an earlier boot
        out.write(f"{_stamp(node, line.at_us, options, style)}{line.text}\n")
    return 0


def _stamp(node: Node, at_us: int, options: dict[str, str], style: str) -> str:
    if "notime" in options or style == "notime":
        return ""
    level = "kern  :warn  : " if "decode" in options else ""
    unix_us = node.epoch.unix_us(at_us)
    moment = time.gmtime(unix_us / 1e6)
    if "ctime" in options or style == "ctime":
        return f"{level}[{time.strftime('%a %b %e %H:%M:%S %Y', moment)}] "
    if style == "iso":
        text = time.strftime("%Y-%m-%dT%H:%M:%S", moment)
        return f"{level}{text},{unix_us % 1_000_000:06d}+00:00 "
    return f"{level}[{uptime_s(node, at_us):12.6f}] "
