"""A GPU beside the others of its node: one alone has something of its own, all at once share it."""

from __future__ import annotations

from collections.abc import Callable

from gputui.incidents.averages import median
from gputui.incidents.history import History
from gputui.model import GpuSample, NodeSample


def answering(sample: NodeSample) -> list[GpuSample]:
    """Those that tell why their clocks are as they are."""
    return [gpu for gpu in sample.gpus if gpu.clock_reasons is not None]


def in_how_many(past: History, gpu: GpuSample, holds: Callable[[GpuSample], bool], of: int) -> int:
    """In how many of the last ``of`` samples, the present one among them, something held."""
    count = 0
    for position in range(1, min(of, len(past.samples)) + 1):
        one = next((x for x in past.samples[-position].gpus if x.index == gpu.index), None)
        count += one is not None and holds(one)
    return count


def busy_peers_median(
    gpu: GpuSample, now: NodeSample, read: Callable[[GpuSample], int | None], *, busy_percent: int
) -> float | None:
    """The median of a reading over the other GPUs of the same model that work; None without any."""
    values = [
        value
        for one in now.gpus
        if one.index != gpu.index
        and one.name == gpu.name
        and (one.utilization_percent or 0) >= busy_percent
        and (value := read(one)) is not None
    ]
    return median(values) if values else None
