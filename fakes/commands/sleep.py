"""``sleep``: lets the run's time pass (coreutils: numbers with s, m, h or d, which add up)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.nvml.answer import FOREVER_US

_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)")
_UNIT_S = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def duration_us(word: str) -> int | None:
    """Microseconds of ``5``, ``2.5m`` or ``infinity``; None for anything else.

    >>> duration_us("1.5m")
    90000000
    """
    if word in ("inf", "infinity"):
        return FOREVER_US
    found = _DURATION.fullmatch(word)
    return round(float(found[1]) * _UNIT_S[found[2]] * 1_000_000) if found else None


@command("sleep", latency_us=0)
def main(argv: Sequence[str], pause: Callable[[int], None], err: TextIO) -> int:
    """Wait, on the run's clock."""
    words = [word for word in argv if word != "--"]
    if not words:
        err.write("sleep: missing operand\nTry 'sleep --help' for more information.\n")
        return 1
    total_us = 0
    for word in words:
        each_us = duration_us(word)
        if each_us is None and word.startswith("-"):
            err.write(f"sleep: {word}: this option is not known here\n")
            return NOT_UNDERSTOOD
        if each_us is None:
            err.write(f"sleep: invalid time interval '{word}'\n")
            err.write("Try 'sleep --help' for more information.\n")
            return 1
        total_us = min(total_us + each_us, FOREVER_US)
    pause(total_us)
    return 0
