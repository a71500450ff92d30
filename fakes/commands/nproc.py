"""``nproc``: how many processors the node has (coreutils 8.32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.system.machine import CPUS


@command("nproc", latency_us=1_000)
def main(argv: Sequence[str], env: Mapping[str, str], out: TextIO, err: TextIO) -> int:
    """Print it, less those to ignore; OMP_NUM_THREADS overrides it, but for ``--all``."""
    try:
        options, words = parse(argv, {}, {}, ("ignore",), ("all",))
    except UnknownOptionError as unknown:
        err.write(f"nproc: {unknown}\n")
        return NOT_UNDERSTOOD
    ignored = options.get("ignore", "0")
    if words or not ignored.isdecimal():
        err.write(f"nproc: {' '.join(argv)}: this is not known here\n")
        return NOT_UNDERSTOOD
    threads = env.get("OMP_NUM_THREADS", "")
    overrides = threads.isdecimal() and int(threads) > 0 and "all" not in options
    out.write(f"{max(1, (int(threads) if overrides else CPUS) - int(ignored))}\n")
    return 0
