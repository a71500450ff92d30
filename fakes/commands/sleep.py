"""``sleep``: lets the run's time pass (coreutils: numbers with s, m, h or d, which add up)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import ceil
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.nvml.answer import FOREVER_US

_DURATION = re.compile(
    r"\s*\+?(?:(?P<hex>0x[\da-f]+(?:\.[\da-f]*)?(?:p[+-]?\d+)?)"
    r"|(?P<endless>inf(?:inity)?)"
    r"|(?P<decimal>(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?))(?P<unit>[smhd]?)",
    re.IGNORECASE,
)
"""What strtod(3) takes, and a unit."""
_UNIT_S = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def duration_us(word: str) -> int | None:
    """Microseconds of ``5``, ``2.5m``, ``1e2`` or ``infinity``; None for anything else.

    >>> duration_us("1.5m")
    90000000
    """
    found = _DURATION.fullmatch(word)
    if found is None or found["unit"] not in _UNIT_S:
        return None
    if found["endless"]:
        return FOREVER_US
    try:
        number = float.fromhex(found["hex"]) if found["hex"] else float(found["decimal"])
    except OverflowError:
        return FOREVER_US
    us = number * _UNIT_S[found["unit"]] * 1_000_000
    return FOREVER_US if us >= FOREVER_US else ceil(us)


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
