"""Events: the types that a GPU can report."""

from __future__ import annotations

from fakes.gpu import Gpu
from fakes.nvml.answer import Reach, Value, answers
from fakes.nvml.values import uint64

_SINGLE_BIT_ECC, _DOUBLE_BIT_ECC, _XID = 0x1, 0x2, 0x8


@answers("nvmlDeviceGetSupportedEventTypes", reach=Reach.DRIVER)
def supported_event_types(gpu: Gpu, at_us: int) -> Value:
    """nvmlEventType*: both sorts of ECC error, and Xids. Clock events are Kepler's alone."""
    return uint64(_SINGLE_BIT_ECC | _DOUBLE_BIT_ECC | _XID)
