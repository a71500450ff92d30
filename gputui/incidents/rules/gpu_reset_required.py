"""A GPU that the driver will not use again before it is reset."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.advice import ACTION_TEXTS
from gputui.incidents.history import History
from gputui.incidents.rule import CRITICAL, Finding, Subject, rule, samples
from gputui.model import Action, NodeSample
from gputui.sources.reasons import RESET_REQUIRED, words


@rule(kind="GpuResetRequired", severity=CRITICAL, holds=samples(1), clears=samples(4))
def gpu_reset_required(now: NodeSample, past: History) -> Iterator[Finding]:
    """NVML answers GPU_REQUIRES_RESET; the last Xid before it says what happened."""
    for gpu in now.gpus:
        if gpu.return_code != RESET_REQUIRED:
            continue
        xids = [event for event in past.events_on(gpu) if event.kind == "xid"]
        yield Finding(
            Subject.of_gpu(gpu),
            cause="driver",
            cause_text=f"after Xid {xids[-1].code}" if xids else "the driver asks for it",
            action=Action.RESET_GPU,
            action_text=ACTION_TEXTS[Action.RESET_GPU],
            evidence=(f"NVML: {words(gpu.return_code)}",),
            since_s=xids[-1].time_s if xids else None,
            under=("GpuLost", "EccUncorrectable"),
        )
