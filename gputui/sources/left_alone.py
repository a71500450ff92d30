"""GPUs that are left alone, because a call to them does not return: they are rows all the same."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

from gputui.model import GpuSample, NodeSample
from gputui.sources.reasons import TIMEOUT, words

_READINGS = tuple(
    name
    for name in GpuSample.__dataclass_fields__
    if name not in ("index", "return_code", "missing")
)


def with_left_alone(sample: NodeSample, indices: Set[int]) -> NodeSample:
    """A sample with a row for each GPU that was not asked."""
    if not indices or sample.error is not None:
        return sample
    missing = dict.fromkeys(_READINGS, words(TIMEOUT))
    rows = [
        GpuSample(index, return_code=TIMEOUT, missing=missing)
        for index in indices
        if index < sample.gpu_count
    ]
    gpus = sorted((*sample.gpus, *rows), key=lambda gpu: gpu.index)
    return replace(sample, gpus=tuple(gpus))
