"""``journalctl``: what the kernel and the services of a node have said."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from fakes.clock import SECOND_US
from fakes.commands.journal import ERROR, FORMS, KERNEL, Entry, boot_of, entries
from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.units import BY_NAME, full_name
from fakes.system.uptime import boot_id, booted_unix_s

_FLAGS = {
    "k": "dmesg", "r": "reverse", "e": "pager-end", "x": "catalog", "q": "quiet", "a": "all",
    "l": "full", "m": "merge", "f": "follow",
}  # fmt: skip
_VALUES = {
    "u": "unit", "n": "lines", "o": "output", "S": "since", "U": "until", "b": "boot",
    "p": "priority", "g": "grep", "t": "identifier",
}  # fmt: skip
_LONG_VALUES = ("output-fields", "directory", "file", "case-sensitive", "facility")
_LONG_FLAGS = (
    "no-pager", "utc", "no-hostname", "system", "list-boots", "disk-usage", "no-tail", "flush",
    "sync", "rotate", "version",
)  # fmt: skip
_AGO = re.compile(r"([-+]?)\s*((?:\d+\s*[a-z]+\s*)+)(ago)?")
_PART = re.compile(r"(\d+)\s*([a-z]+)")
_UNIT_S = {
    "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600,
    "hour": 3600, "d": 86_400, "day": 86_400, "w": 604_800, "week": 604_800,
}  # fmt: skip
_PRIORITIES = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")
_LOOKS_EVERY_US = SECOND_US
_USUAL_LINES = 10


@command("journalctl", latency_us=50_000)
def main(
    argv: Sequence[str],
    node: Node,
    clock: Callable[[], float],
    pause: Callable[[int], None],
    out: TextIO,
    err: TextIO,
) -> int:
    """Print it; with ``-f``, for ever."""
    words = _with_boots(argv)
    try:
        options, fields = parse(words, _FLAGS, _VALUES, _LONG_VALUES, _LONG_FLAGS)
        wanted = _filter(node, options, _units(words), fields, clock())
        write = FORMS[options.get("output", "short")]
    except UnknownOptionError as error:
        err.write(f"journalctl: {error}\n")
        return NOT_UNDERSTOOD
    except KeyError:
        err.write(f"journalctl: -o {options['output']}: this form is not known here\n")
        return NOT_UNDERSTOOD
    if "list-boots" in options:
        return _list_boots(node, clock(), out)
    found = [entry for entry in entries(node) if wanted(entry)]
    shown = _last(found, options)
    if not shown and "follow" not in options and "json" not in options.get("output", ""):
        if "quiet" not in options and (not fields or not found):
            out.write("-- No entries --\n")
        return 0
    out.writelines(write(node, entry) for entry in shown)
    while "follow" in options:
        seen = len(found)
        pause(_LOOKS_EVERY_US)
        found = [entry for entry in entries(node) if wanted(entry)]
        out.writelines(write(node, entry) for entry in found[seen:])
    return 0


def _with_boots(argv: Sequence[str]) -> list[str]:
    """The arguments with ``-b`` and the number that may follow it in one word."""
    words: list[str] = []
    for word in argv:
        if words and words[-1] == "-b" and re.fullmatch(r"[-+]?\d+|all", word):
            words[-1] = f"--boot={word}"
        else:
            words.append("-b" if word == "--boot" else word)
    return ["--boot=0" if word == "-b" else word for word in words]


def _last(found: list[Entry], options: Mapping[str, str]) -> list[Entry]:
    count = options.get("lines", "")
    if count.isdecimal():
        found = found[-int(count) :] if int(count) else []
    elif ("lines" in options and count != "all") or (
        "follow" in options and "lines" not in options
    ):
        found = found[-_USUAL_LINES:]
    return found[::-1] if "reverse" in options else found


def _units(argv: Sequence[str]) -> list[str]:
    """Every unit that is asked for: ``-u`` may be given several times."""
    units = []
    for at, word in enumerate(argv):
        if word in ("-u", "--unit") and at + 1 < len(argv):
            units.append(argv[at + 1])
        elif word.startswith("--unit="):
            units.append(word.partition("=")[2])
        elif re.fullmatch(r"-[a-z]*u\S+", word) and not word.startswith("--"):
            units.append(word.partition("u")[2])
    return units


def _filter(
    node: Node,
    options: Mapping[str, str],
    units: Sequence[str],
    fields: Sequence[str],
    now_s: float,
) -> Callable[[Entry], bool]:
    """Whether an entry is wanted. Raises :class:`UnknownOptionError`."""
    since_s = _moment(options.get("since"), now_s, float("-inf"), "since")
    until_s = _moment(options.get("until"), now_s, float("inf"), "until")
    boots = _boots(node, options)
    names = {_canonical(unit) for unit in units}
    most = _priority(options.get("priority", ""))
    pattern = re.compile(options["grep"], re.I) if "grep" in options else None
    matches = [_match_of(field) for field in fields]

    def wanted(entry: Entry) -> bool:
        unix_s = node.epoch.unix_us(entry.at_us) / 1e6
        return (
            since_s <= unix_s <= until_s
            and (boots is None or boot_of(node, entry.at_us) in boots)
            and (not names or entry.unit in names)
            and not ("dmesg" in options and entry.identifier != KERNEL)
            and not ("identifier" in options and entry.identifier != options["identifier"])
            # What the driver says is of the levels that scripts ask for.
            and (entry.priority <= most or (entry.identifier == KERNEL and most >= ERROR))
            and (pattern is None or pattern.search(entry.text) is not None)
            and all(match(entry) for match in matches)
        )

    return wanted


def _canonical(unit: str) -> str:
    known = BY_NAME.get(full_name(unit))
    return known.name if known else full_name(unit)


def _boots(node: Node, options: Mapping[str, str]) -> set[int] | None:
    """The boots that are wanted; None for all. ``-k`` alone means the present one."""
    text = options.get("boot", "0" if "dmesg" in options and "since" not in options else "all")
    if text in ("all", ""):
        return None
    try:
        number = int(text)
    except ValueError:
        raise UnknownOptionError(f"-b {text}: this form is not known here") from None
    return {node.boots + number if number <= 0 else number - 1}


def _priority(text: str) -> int:
    name = text.rpartition("..")[2]
    if not name:
        return len(_PRIORITIES)
    if name.isdecimal():
        return int(name)
    for number, known in enumerate(_PRIORITIES):
        if known.startswith(name) or name.startswith(known):
            return number
    raise UnknownOptionError(f"-p {text}: this level is not known here")


def _match_of(field: str) -> Callable[[Entry], bool]:
    name, _, value = field.partition("=")
    if name in ("_SYSTEMD_UNIT", "UNIT"):
        return lambda entry: entry.unit == value
    if name == "_TRANSPORT":
        return lambda entry: (entry.identifier == KERNEL) == (value == "kernel")
    if name in ("SYSLOG_IDENTIFIER", "_COMM"):
        return lambda entry: entry.identifier == value
    if name == "_PID":
        return lambda entry: str(entry.pid) == value
    if name == "PRIORITY":
        return lambda entry: str(entry.priority) == value
    raise UnknownOptionError(f"{field}: this match is not known here")


def _moment(text: str | None, now_s: float, usual_s: float, name: str) -> float:
    """A moment as systemd.time(7) writes it, in Unix time."""
    if not text:
        return usual_s
    text = text.strip()
    if text == "now":
        return now_s
    if re.fullmatch(r"@\d+(\.\d+)?", text):
        return float(text[1:])
    if found := _AGO.fullmatch(text):
        span_s = 0
        for number, unit in _PART.findall(found[2]):
            size_s = _UNIT_S.get(unit) or _UNIT_S.get(unit.rstrip("s"))
            if size_s is None:
                raise UnknownOptionError(f"--{name} {text}: this form is not known here")
            span_s += int(number) * size_s
        return now_s + span_s if found[1] == "+" else now_s - span_s
    if text in ("today", "yesterday", "tomorrow"):
        days = {"today": 0, "yesterday": -1, "tomorrow": 1}[text]
        return now_s - now_s % 86_400 + days * 86_400
    for form in ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d"):
        try:
            return time.mktime(time.strptime(text.removesuffix(" UTC"), form)) - time.timezone
        except ValueError:
            continue
    for form in ("%H:%M:%S", "%H:%M"):
        try:
            told = time.strptime(text, form)
        except ValueError:
            continue
        return now_s - now_s % 86_400 + told.tm_hour * 3600 + told.tm_min * 60 + told.tm_sec
    raise UnknownOptionError(f"--{name} {text}: this form is not known here")


def _list_boots(node: Node, now_s: float, out: TextIO) -> int:
    """A boot a line: how long ago, its name, its first and last entry."""
    began_s = booted_unix_s(node)
    rows = [(0, boot_id(node), began_s, now_s)]
    if node.boots:
        before_s = node.epoch.unix_us(0) / 1e6
        rows.insert(0, (-1, boot_id(node, node.boots - 1), before_s, began_s))
    for number, name, first_s, last_s in rows:
        first, last = (
            time.strftime("%a %Y-%m-%d %H:%M:%S UTC", time.gmtime(s)) for s in (first_s, last_s)
        )
        out.write(f"{number:>2} {name.hex} {first}—{last}\n")
    return 0
