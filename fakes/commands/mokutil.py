"""``mokutil``: whether the firmware lets unsigned modules be loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command


@command("mokutil", latency_us=10_000)
def main(argv: Sequence[str], out: TextIO, err: TextIO) -> int:
    """``--sb-state``: it does, as on most GPU servers."""
    if list(argv) != ["--sb-state"]:
        err.write(f"mokutil: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    out.write("SecureBoot disabled\n")
    return 0
