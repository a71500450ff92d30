"""By how much a counter grew within the last moments, as readings tell it.

What it stood at before is no news, and a counter that falls was set back: only steps upward count.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from gputui.incidents.history import History
from gputui.model import GpuSample

MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class Grown:
    """``by`` how much, in steps of which the last was at ``last_s``; ``took_s`` from the reading
    before the first step to the last one.
    """

    by: int
    last_s: float
    took_s: float

    @property
    def forgotten_s(self) -> float:
        """When the last step is a minute ago."""
        return self.last_s + MINUTE_S


def grown(past: History, gpu: GpuSample, read: Callable[[GpuSample], int | None]) -> Grown | None:
    """What a counter of errors on a GPU's links grew by within the last minute; None for not at
    all, which is the rule and costs nothing to find out.
    """
    if not past.has_counted(gpu.index, MINUTE_S):
        return None
    series = past.series(gpu.index, read, last_s=MINUTE_S)
    by, began_s, last_s = 0, 0.0, 0.0
    for (before_s, before), (at_s, value) in pairwise(series):
        if value > before:
            began_s = before_s if by == 0 else began_s
            by, last_s = by + value - before, at_s
    return Grown(by, last_s, last_s - began_s) if by else None
