"""``logger``: a line for the system's log (util-linux)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command

_FLAGS = {"s": "stderr", "i": "id", "d": "udp", "T": "tcp", "e": "skip-empty"}
_VALUES = {"t": "tag", "p": "priority", "f": "file", "n": "server", "P": "port", "u": "socket"}


@command("logger", latency_us=5_000)
def main(argv: Sequence[str], user: str, stdin: TextIO | None, err: TextIO) -> int:
    """Take the line; with ``-s`` show it too. The call itself is what a run takes note of."""
    try:
        options, words = parse(argv, _FLAGS, _VALUES, ("msgid", "journald", "size"), ("id",))
    except UnknownOptionError as error:
        err.write(f"logger: {error}\n")
        return NOT_UNDERSTOOD
    lines = [" ".join(words)] if words else (stdin.read().splitlines() if stdin else [])
    if "stderr" in options:
        tag = options.get("tag", user)
        err.writelines(f"<13>{tag}: {line}\n" for line in lines)
    return 0
