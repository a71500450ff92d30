"""GPU performance monitoring: counters between two samples, which this fake does not take."""

from __future__ import annotations

from struct import Struct

from fakes.gpu import Gpu
from fakes.nvml.answer import Value, answers

_SUPPORT = Struct("<II")


@answers("nvmlGpmQueryDeviceSupport")
def support(gpu: Gpu, at_us: int, words: tuple[int, ...]) -> Value:
    """Whether samples can be taken: not here (a real Hopper can), so that clients do without."""
    return _SUPPORT.pack(words[0], 0)
