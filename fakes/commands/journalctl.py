"""``journalctl``: the kernel's lines; of units there is nothing to tell."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.kernel_log import KernelLine
from fakes.node import Node

_FLAGS = {
    "k": "dmesg", "r": "reverse", "e": "pager-end", "x": "catalog", "q": "quiet", "a": "all",
    "l": "full", "m": "merge", "f": "follow",
}  # fmt: skip
_VALUES = {
    "u": "unit", "n": "lines", "o": "output", "S": "since", "U": "until", "b": "boot",
    "p": "priority", "g": "grep", "t": "identifier",
}  # fmt: skip
_LONG_FLAGS = ("no-pager", "utc", "no-hostname", "system", "list-boots", "disk-usage")
_AGO = re.compile(r"-?\s*(\d+)\s*(s|sec|min|minutes?|m|h|hours?|d|days?)\s*(?:ago)?")
_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@command("journalctl", latency_us=50_000)
def main(
    argv: Sequence[str], node: Node, clock: Callable[[], float], out: TextIO, err: TextIO
) -> int:
    """Print it."""
    words = ["-b0" if word == "-b" else word for word in argv]
    try:
        options, fields = parse(words, _FLAGS, _VALUES, (), _LONG_FLAGS)
        since_s = _since(options, clock())
        write = _FORMS[options.get("output", "short")]
    except UnknownOptionError as error:
        err.write(f"journalctl: {error}\n")
        return NOT_UNDERSTOOD
    except KeyError:
        err.write(f"journalctl: -o {options['output']}: this form is not known here\n")
        return NOT_UNDERSTOOD
    lines = [
        line for line in node.kernel_log.lines if node.epoch.unix_us(line.at_us) / 1e6 >= since_s
    ]
    if "unit" in options or ("identifier" in options and options["identifier"] != "kernel"):
        lines = []
    if "grep" in options:
        lines = [line for line in lines if re.search(options["grep"], line.text, re.I)]
    count = options.get("lines", "")
    if count.isdecimal():
        lines = lines[-int(count) :]
    if "reverse" in options:
        lines.reverse()
    if not lines and write is not _json and not fields:
        out.write("-- No entries --\n")
    out.writelines(write(node, line) for line in lines)
    return 0


def _since(options: dict[str, str], now_s: float) -> float:
    text = options.get("since")
    if not text:
        return float("-inf")
    if found := _AGO.fullmatch(text.strip()):
        return now_s - int(found[1]) * _UNIT_S[found[2][0]]
    for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"):
        try:
            return time.mktime(time.strptime(text.strip(), form)) - time.timezone
        except ValueError:
            continue
    if text.strip() in ("today", "yesterday"):
        return now_s - now_s % 86_400 - (86_400 if text.strip() == "yesterday" else 0)
    raise UnknownOptionError(f"--since {text}: this form is not known here")


def _stamp(node: Node, line: KernelLine, form: str) -> str:
    return time.strftime(form, time.gmtime(node.epoch.unix_us(line.at_us) / 1e6))


def _short(node: Node, line: KernelLine) -> str:
    return f"{_stamp(node, line, '%b %d %H:%M:%S')} {node.name} kernel: {line.text}\n"


def _iso(node: Node, line: KernelLine) -> str:
    return f"{_stamp(node, line, '%Y-%m-%dT%H:%M:%S+0000')} {node.name} kernel: {line.text}\n"


def _cat(node: Node, line: KernelLine) -> str:
    return f"{line.text}\n"


def _json(node: Node, line: KernelLine) -> str:
    told = {
        "__REALTIME_TIMESTAMP": str(node.epoch.unix_us(line.at_us)),
        "_TRANSPORT": "kernel",
        "SYSLOG_IDENTIFIER": "kernel",
        "PRIORITY": "4",
        "_HOSTNAME": node.name,
        "MESSAGE": line.text,
    }
    return json.dumps(told) + "\n"


_FORMS = {"short": _short, "short-iso": _iso, "cat": _cat, "json": _json, "short-precise": _short}
