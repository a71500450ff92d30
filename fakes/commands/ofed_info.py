"""``ofed_info``: the version of MLNX_OFED (fakes/system/modules.py has its modules)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command

_VERSION = "24.10-1.1.4.0"


@command("ofed_info", latency_us=30_000)
def main(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """``-s`` and ``-n``: the version with its name, and alone."""
    if list(argv) == ["-s"]:
        out.write(f"MLNX_OFED_LINUX-{_VERSION}:\n")
    elif list(argv) == ["-n"]:
        out.write(f"{_VERSION}\n")
    else:
        err.write(f"ofed_info: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    return 0
