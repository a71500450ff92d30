"""``dpkg`` and ``dpkg-query``: which packages are installed (dpkg 1.21)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.system.packages import Package, packages

_FLAGS = {"l": "list", "s": "status", "W": "show"}
_VALUES = {"f": "showformat"}
_ARCHITECTURE = "amd64"
_HEADING = (
    "Desired=Unknown/Install/Remove/Purge/Hold\n"
    "| Status=Not/Inst/Conf-files/Unpacked/halF-conf/Half-inst/trig-aWait/Trig-pend\n"
    "|/ Err?=(none)/Reinst-required (Status,Err: uppercase=bad)\n"
)
_PART = r"\$\{([^};]+)(?:;[^}]*)?\}"
_USUAL_FORM = "${binary:Package}\\t${Version}\\n"
_NARROWEST = (14, 12, 12, 33)
"""The least that dpkg's columns take: name, version, architecture, description."""


@command("dpkg", "dpkg-query", latency_us=30_000)
def main(argv: Sequence[str], node: Node, program: str, out: TextIO, err: TextIO) -> int:
    """List packages, tell of one, or print them in a form."""
    if program == "dpkg" and list(argv) == ["--print-architecture"]:
        out.write(f"{_ARCHITECTURE}\n")
        return 0
    try:
        options, names = parse(argv, _FLAGS, _VALUES)
    except UnknownOptionError as error:
        err.write(f"{program}: {error}\n")
        return NOT_UNDERSTOOD
    if "list" in options:
        return _list(names, node, out, err)
    if "status" in options:
        return _status(names, node, out, err)
    if "show" in options and program == "dpkg-query":
        form = options.get("showformat", _USUAL_FORM).removeprefix("=")
        return _show(names, form, node, out, err)
    err.write(f"{program}: {' '.join(argv)}: this is not known here\n")
    return NOT_UNDERSTOOD


def _chosen(patterns: Sequence[str], node: Node, err: TextIO) -> tuple[list[Package], int]:
    """The packages that fit any pattern, and 1 if a pattern fits none."""
    every = packages(node)
    missed = [each for each in patterns if not any(fnmatchcase(one.name, each) for one in every)]
    for each in missed:
        err.write(f"dpkg-query: no packages found matching {each}\n")
    chosen = [
        one for one in every if not patterns or any(fnmatchcase(one.name, p) for p in patterns)
    ]
    return chosen, 1 if missed else 0


def _list(patterns: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    chosen, status = _chosen(patterns, node, err)
    if not chosen:
        return status
    rows = [(one.name, one.version, one.architecture, one.about) for one in chosen]
    widths = [
        max(least, *map(len, cells))
        for least, cells in zip(_NARROWEST, zip(*rows, strict=True), strict=True)
    ]
    heads = ("Name", "Version", "Architecture", "Description")
    out.write(f"{_HEADING}{_row('||/', heads, widths)}")
    out.write("+++-" + "-".join("=" * width for width in widths) + "\n")
    out.writelines(_row("ii ", row, widths) for row in rows)
    return status


def _row(flags: str, cells: Iterable[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"{flags} {' '.join(padded)}".rstrip() + "\n"


def _status(names: Sequence[str], node: Node, out: TextIO, err: TextIO) -> int:
    known = {one.name: one for one in packages(node)}
    status = 0
    for name in names:
        one = known.get(name)
        if one is None:
            err.write(
                f"dpkg-query: package '{name}' is not installed and no information is available\n"
            )
            status = 1
            continue
        out.write(
            f"Package: {one.name}\nStatus: install ok installed\nArchitecture: {one.architecture}\n"
            f"Version: {one.version}\nDescription: {one.about}\n\n"
        )
    return status


def _show(patterns: Sequence[str], form: str, node: Node, out: TextIO, err: TextIO) -> int:
    chosen, status = _chosen(patterns, node, err)
    text = form.replace("\\n", "\n").replace("\\t", "\t")
    out.writelines(re.sub(_PART, partial(_part_of, one), text) for one in chosen)
    return status


def _part_of(one: Package, part: re.Match[str]) -> str:
    """What stands for ``${Version}``, or ``${Version;-20}``, in a form; unknown ones are empty."""
    said = {
        "Package": one.name, "binary:Package": one.name, "Version": one.version,
        "Architecture": one.architecture, "Status": "install ok installed",
        "db:Status-Abbrev": "ii ", "binary:Summary": one.about, "Description": one.about,
    }  # fmt: skip
    return said.get(part[1], "")
