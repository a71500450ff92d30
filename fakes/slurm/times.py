"""Times as Slurm's options give them (sbatch(1), ``--time``)."""

from __future__ import annotations

import re

_FORM = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")


def minutes_of(text: str) -> float | None:
    """Minutes of ``90``, ``1:30:00``, ``2-12``; None where it is none, or has no end.

    >>> minutes_of("90"), minutes_of("10:30"), minutes_of("1-0"), minutes_of("soon")
    (90.0, 10.5, 1440.0, None)
    """
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    first, second, third = int(found[2]), int(found[3] or 0), int(found[4] or 0)
    if found[1] is not None:
        return int(found[1]) * 1440.0 + first * 60 + second + third / 60
    if found[4] is not None:
        return first * 60.0 + second + third / 60
    return first + second / 60


def seconds_of(text: str) -> int | None:
    """The same in seconds."""
    minutes = minutes_of(text)
    return None if minutes is None else round(minutes * 60)


def is_endless(text: str) -> bool:
    """Whether it says that there is no end."""
    return text.upper() in ("UNLIMITED", "INFINITE", "-1", "0")
