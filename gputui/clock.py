"""The time of day where we are, as people read it off a clock."""

from __future__ import annotations

import time

_DAY_S = 86_400.0
_A_RUNS_S = 1e8
"""Before this (March 1973) a time is no date: it counts from the start of a run."""


def clock(time_s: float, now_s: float) -> str:
    """``15:57:02`` of a Unix time; with its date when that is a day or more from ``now_s``.

    The time of a run is told as it is, the same wherever it is read.
    """
    if abs(time_s) < _A_RUNS_S:
        hours, rest = divmod(max(int(time_s), 0), 3600)
        return f"{hours:02}:{rest // 60:02}:{rest % 60:02}"
    form = "%H:%M:%S" if abs(now_s - time_s) < _DAY_S else "%Y-%m-%d %H:%M:%S"
    return time.strftime(form, time.localtime(time_s))
