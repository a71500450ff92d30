"""``mount``, ``df``, ``findmnt``, ``mountpoint`` and ``free``: a node's file systems and memory.

Shapes are those of util-linux 2.37 and coreutils 8.32. A file system whose server does not answer
fails each who asks with its error; nothing is mounted here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.machine import MEMORY_KIB
from fakes.system.storage import Mount, Trouble
from fakes.system.uptime import memory_used_kib

_BLOCK = 1024
_STALE = "Stale file handle"


def _not_known(name: str, why: object, err: TextIO) -> int:
    err.write(f"{name}: {why}\n")
    return NOT_UNDERSTOOD


@command("mount", latency_us=10_000)
def mount(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """List what is mounted; mounting again what is there changes nothing."""
    flags = {"l": "show-labels", "a": "all", "v": "verbose", "n": "no-mtab"}
    try:
        options, words = parse(argv, flags, {"t": "types", "o": "options"})
    except UnknownOptionError as error:
        return _not_known("mount", error, err)
    if words or "all" in options or "options" in options:
        return _not_known("mount", "mounting is not known here", err)
    kinds = [kind for kind in options.get("types", "").split(",") if kind]
    for each in node.storage.mounts:
        if not kinds or each.kind in kinds:
            out.write(f"{each.source} on {each.target} type {each.kind} ({each.options_now})\n")
    return 0


@command("mountpoint", latency_us=5_000)
def mountpoint(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """Whether something is mounted on a directory."""
    try:
        options, words = parse(
            argv, {"q": "quiet", "d": "fs-devno", "x": "devno"}, {}, (), ("nofollow",)
        )
    except UnknownOptionError as error:
        return _not_known("mountpoint", error, err)
    if len(words) != 1:
        err.write("mountpoint: bad usage\nTry 'mountpoint --help' for more information.\n")
        return 1
    found = node.storage.find(words[0])
    if found is not None and found.trouble is Trouble.STALE:
        err.write(f"mountpoint: {words[0]}: {_STALE}\n")
        return 1
    if "quiet" not in options:
        out.write(f"{words[0]} is {'' if found else 'not '}a mountpoint\n")
    return 0 if found else 32


@command("findmnt", latency_us=10_000)
def findmnt(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """What is mounted, as a table; of a target, a source or a type only that."""
    flags = {
        "n": "noheadings", "l": "list", "r": "raw", "J": "json", "k": "kernel", "u": "notruncate",
        "P": "pairs", "D": "df", "a": "ascii", "f": "first-only", "v": "nofsroot",
    }  # fmt: skip
    values = {"o": "output", "t": "types", "T": "target", "S": "source", "M": "mountpoint"}
    try:
        options, words = parse(argv, flags, values)
    except UnknownOptionError as error:
        return _not_known("findmnt", error, err)
    names = options.get("output", "TARGET,SOURCE,FSTYPE,OPTIONS").upper().split(",")
    if unknown := [name for name in names if name not in _COLUMNS]:
        return _not_known("findmnt", f"-o {unknown[0]}: this column is not known here", err)
    wanted = words[0] if words else options.get("mountpoint") or options.get("source")
    kinds = [kind for kind in options.get("types", "").split(",") if kind]
    found = list(node.storage.mounts)
    if "target" in options:
        found = [node.storage.holding(options["target"])]
    found = [
        each
        for each in found
        if (not wanted or wanted.rstrip("/") in (each.target.rstrip("/"), each.source))
        and (not kinds or each.kind in kinds)
    ]
    rows = [{name: _COLUMNS[name](each) for name in names} for each in found]
    if "json" in options:
        lower = [{name.lower(): value for name, value in row.items()} for row in rows]
        out.write(json.dumps({"filesystems": lower}, indent=3) + "\n")
    elif "pairs" in options:
        out.writelines(" ".join(f'{k}="{v}"' for k, v in row.items()) + "\n" for row in rows)
    else:
        head = [] if "noheadings" in options or not rows else [{name: name for name in names}]
        _table([*head, *rows], names, out, raw="raw" in options)
    return 0 if rows else 1


def _share(each: Mount) -> str:
    return f"{-(-100 * each.used // each.total_bytes)}%"


def _human(number: int) -> str:
    """A size as df -h writes it: rounded up, with one digit where it is below ten."""
    value, unit = float(number), 0
    while value >= 1024 and unit < 5:
        value, unit = value / 1024, unit + 1
    letter = ("", "K", "M", "G", "T", "P")[unit]
    if not letter:
        return str(number)
    tenths = -int(-value * 10 // 1)
    return f"{tenths / 10:.1f}{letter}" if tenths < 100 else f"{-int(-value // 1)}{letter}"


_COLUMNS: dict[str, Callable[[Mount], str]] = {
    "TARGET": lambda each: each.target,
    "SOURCE": lambda each: each.source,
    "FSTYPE": lambda each: each.kind,
    "OPTIONS": lambda each: each.options_now,
    "SIZE": lambda each: _human(each.total_bytes),
    "USED": lambda each: _human(each.used),
    "AVAIL": lambda each: _human(each.free),
    "USE%": _share,
}


def _table(rows: list[dict[str, str]], names: list[str], out: TextIO, *, raw: bool) -> None:
    widths = {name: max((len(row[name]) for row in rows), default=0) for name in names}
    for row in rows:
        cells = [row[name] if raw else row[name].ljust(widths[name]) for name in names]
        out.write(" ".join(cells).rstrip() + "\n")


@command("df", latency_us=10_000)
def df(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """How full each is, or what given paths lie on."""
    flags = {
        "h": "human-readable", "k": "kilo", "m": "mega", "P": "portability", "T": "print-type",
        "l": "local", "a": "all", "i": "inodes", "H": "si",
    }  # fmt: skip
    values = {"t": "type", "x": "exclude-type", "B": "block-size"}
    try:
        options, words = parse(argv, flags, values, ("output",), ("total", "sync", "no-sync"))
    except UnknownOptionError as error:
        return _not_known("df", error, err)
    if {"inodes", "output", "si"} & set(options):
        return _not_known("df", "this form is not known here", err)
    found = [node.storage.holding(word) for word in words] or list(node.storage.mounts)
    if "type" in options:
        found = [each for each in found if each.kind == options["type"]]
    if "exclude-type" in options:
        found = [each for each in found if each.kind != options["exclude-type"]]
    if "local" in options:
        found = [each for each in found if not each.is_remote]
    status = 0
    rows = []
    for each in found:
        if each.trouble is Trouble.STALE:
            err.write(f"df: {each.target}: {_STALE}\n")
            status = 1
        else:
            rows.append(_row(each, options))
    if rows:
        _aligned([_heading(options), *rows], out, left=(0, 1) if "print-type" in options else (0,))
    return status


def _heading(options: dict[str, str]) -> list[str]:
    size = (
        "Size" if "human-readable" in options else "1M-blocks" if _is_mega(options) else "1K-blocks"
    )
    if "portability" in options and "human-readable" not in options:
        size = "1048576-blocks" if _is_mega(options) else "1024-blocks"
    kind = ["Type"] if "print-type" in options else []
    share = "Capacity" if "portability" in options else "Use%"
    free = "Avail" if "human-readable" in options else "Available"
    return ["Filesystem", *kind, size, "Used", free, share, "Mounted on"]


def _is_mega(options: dict[str, str]) -> bool:
    return "mega" in options or options.get("block-size", "") in ("M", "1M", "m")


def _row(each: Mount, options: dict[str, str]) -> list[str]:
    numbers = (each.total_bytes, each.used, each.free)
    if "human-readable" in options:
        cells = [_human(number) for number in numbers]
    else:
        block = _BLOCK * _BLOCK if _is_mega(options) else _BLOCK
        cells = [str(-(-number // block)) for number in numbers]
    kind = [each.kind] if "print-type" in options else []
    return [each.source, *kind, *cells, _share(each), each.target]


def _aligned(rows: list[list[str]], out: TextIO, left: tuple[int, ...]) -> None:
    """Columns as df has them: names to the left, numbers to the right."""
    last = len(rows[0]) - 1
    widths = [max(len(row[at]) for row in rows) for at in range(last)]
    widths[0] = max(widths[0], 14)
    for row in rows:
        cells = [
            row[at].ljust(widths[at]) if at in left else row[at].rjust(widths[at])
            for at in range(last)
        ]
        out.write(f"{' '.join(cells)} {row[last]}\n")


@command("free", latency_us=5_000)
def free(argv: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    """The memory of the machine, in procps' table."""
    flags = {
        "b": "bytes", "k": "kibi", "m": "mebi", "g": "gibi", "h": "human", "w": "wide",
        "t": "total",
    }  # fmt: skip
    try:
        options, _ = parse(argv, flags, {}, (), ("si",))
    except UnknownOptionError as error:
        return _not_known("free", error, err)
    if {"wide", "total", "si"} & set(options):
        return _not_known("free", "this form is not known here", err)
    total, used = MEMORY_KIB * 1024, memory_used_kib(node) * 1024
    cached = min(_CACHED_BYTES, total - used)
    shift = next((bits for name, bits in _SHIFTS.items() if name in options), 10)

    def shown(number: int) -> str:
        return f"{_human(number)}i" if "human" in options else str(number >> shift)

    names = ("total", "used", "free", "shared", "buff/cache", "available")
    out.write(
        "      " + "".join(name.rjust(12 if at else 14) for at, name in enumerate(names)) + "\n"
    )
    memory = (total, used, total - used - cached, 16 << 20, cached, total - used)
    for name, numbers in (("Mem:", memory), ("Swap:", (0, 0, 0))):
        cells = (shown(number).rjust(12) for number in numbers)
        out.write(f"{name:<8}{''.join(cells)}\n")
    return 0


_SHIFTS = {"bytes": 0, "kibi": 10, "mebi": 20, "gibi": 30}
_CACHED_BYTES = 64 << 30
