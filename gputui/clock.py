"""The time of day where we are, as people read it off a clock."""

from __future__ import annotations

import time

_DAY_S = 86_400.0


def clock(time_s: float, now_s: float) -> str:
    """``15:57:02`` of a Unix time; with its date when that is a day or more from ``now_s``."""
    form = "%H:%M:%S" if abs(now_s - time_s) < _DAY_S else "%Y-%m-%d %H:%M:%S"
    return time.strftime(form, time.localtime(time_s))
