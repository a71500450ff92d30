"""``timeout``: a command with a limit on the run's clock (coreutils).

``timeout 30 nvidia-smi`` against a driver that hangs takes 30 seconds of the run, and none of ours.
"""

from __future__ import annotations

import signal as signals
from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, Meant, command
from fakes.commands.sleep import duration_us

_TIMED_OUT = 124
_KILLED = 137
_FAILED = Meant(125)
_LONG = {"--signal": "-s", "--kill-after": "-k"}


@command("timeout", latency_us=0)
def main(
    argv: Sequence[str],
    spawn: Callable[[Sequence[str], int | None], int | None],
    signal: Callable[[int], None],
    err: TextIO,
) -> int:
    """Run the command, and end it when its time is over."""
    words = list(argv)
    number: int = signals.SIGTERM
    kill_after_us = None
    preserves = False
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        name, equals, value = word.partition("=")
        name = _LONG.get(name, name)
        if name[:2] in ("-s", "-k") and not name.startswith("--"):
            value = value if equals else name[2:] or (words.pop(0) if words else "")
            if name[:2] == "-k":
                kill_after_us = duration_us(value)
            else:
                number = _signal_of(value)
            if (name[:2] == "-k" and kill_after_us is None) or number == 0:
                err.write(f"timeout: {value}: invalid\n")
                return _FAILED
        elif name == "--preserve-status":
            preserves = True
        elif name not in ("--foreground", "-v", "--verbose"):
            err.write(f"timeout: {word}: this option is not known here\n")
            return NOT_UNDERSTOOD
    if len(words) < 2:
        err.write("timeout: missing operand\nTry 'timeout --help' for more information.\n")
        return _FAILED
    limit_us = duration_us(words[0])
    if limit_us is None:
        err.write(f"timeout: invalid time interval '{words[0]}'\n")
        return _FAILED
    status = spawn(words[1:], limit_us or None)
    if status is not None:
        return Meant(status)
    signal(number)
    status = spawn((), kill_after_us)
    if status is None:
        signal(signals.SIGKILL)
        spawn((), None)
        return _KILLED
    return Meant(status) if preserves else _KILLED if number == signals.SIGKILL else _TIMED_OUT


def _signal_of(name: str) -> int:
    """The number of ``TERM``, ``SIGTERM`` or ``15``; 0 for none."""
    if name.isdecimal():
        return int(name)
    known = signals.Signals.__members__
    found = known.get(name.upper()) or known.get(f"SIG{name.upper()}")
    return int(found) if found else 0
