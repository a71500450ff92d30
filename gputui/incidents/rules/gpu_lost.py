"""A GPU that this node has, and that no longer answers."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents import evidence
from gputui.incidents.advice import ACTION_TEXTS
from gputui.incidents.history import History
from gputui.incidents.losses import FELL_OFF_THE_BUS, is_off_the_bus
from gputui.incidents.rule import CRITICAL, Finding, Subject, rule, samples
from gputui.model import Action, GpuSample, NodeSample
from gputui.sources.reasons import GPU_IS_LOST, LOST_CODES, UNKNOWN, words

_AT_ONCE = samples(1)
_HICCUP = samples(2)
"""One "unknown error" alone may be a hiccup; two in a row, or a word of the kernel's, are not."""


@rule(kind="GpuLost", severity=CRITICAL, holds=_HICCUP, clears=samples(4))
def gpu_lost(now: NodeSample, past: History) -> Iterator[Finding]:
    """NVML counts the GPU, or did, and it gives no answer; the kernel log may say why and when."""
    for gpu in now.gpus:
        if gpu.return_code not in LOST_CODES:
            continue
        told = [event for event in past.events_on(gpu) if is_off_the_bus(event)]
        xids = [event for event in told if event.code == FELL_OFF_THE_BUS]
        yield Finding(
            Subject.of_gpu(gpu),
            cause="bus" if told or gpu.return_code == GPU_IS_LOST else "unknown",
            cause_text=_cause_text(gpu, len(xids)),
            action=Action.POWER_CYCLE,
            action_text=ACTION_TEXTS[Action.POWER_CYCLE],
            evidence=(*evidence.told(told, now.time_s), f"NVML: {words(gpu.return_code)}"),
            since_s=min((event.time_s for event in told), default=None),
            under=("GpuThermalShutdown",),
            holds=_AT_ONCE if told or gpu.return_code != UNKNOWN else _HICCUP,
        )


def _cause_text(gpu: GpuSample, xids: int) -> str:
    if xids:
        return f"Xid 79 x{xids}" if xids > 1 else "Xid 79: fell off the bus"
    return "no answer on the bus" if gpu.return_code == GPU_IS_LOST else words(gpu.return_code)
