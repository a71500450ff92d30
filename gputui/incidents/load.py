"""Whether a GPU works, and for how long it has: links sleep when nobody needs them."""

from __future__ import annotations

from gputui.incidents.history import History
from gputui.model import GpuSample, NodeSample

BUSY_PERCENT = 20
"""A GPU that runs kernels for less of the time may be one that is waiting for its next job."""


def is_busy(gpu: GpuSample) -> bool:
    """Whether it works now."""
    return (gpu.utilization_percent or 0) >= BUSY_PERCENT


def worked_for(past: History, gpu: GpuSample, now: NodeSample, seconds: float) -> bool:
    """Whether it has worked at every reading of the last so many seconds, and that is known."""
    since_s = now.time_s - seconds
    if not past.samples or past.samples[0].time_s > since_s:
        return False
    for sample in reversed(past.samples):
        one = next((one for one in sample.gpus if one.index == gpu.index), None)
        if one is None or not is_busy(one):
            return False
        if sample.time_s <= since_s:
            return True
    return False


def works_lately(past: History, gpu: GpuSample) -> bool:
    """Whether it worked at any reading of the last minute and a half."""
    return any(is_busy(one) for sample in past.samples for one in sample.gpus
               if one.index == gpu.index)  # fmt: skip
