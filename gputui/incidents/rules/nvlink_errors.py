"""Errors on NVLinks that are up: wrong checksums, packets sent again, links trained anew."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import (
    CRITICAL,
    WARNING,
    Finding,
    LookAgain,
    Subject,
    after,
    rule,
    samples,
)
from gputui.incidents.window import Grown, grown
from gputui.model import Action, GpuSample, NodeSample

CRC_PER_S = 100
"""Wrong checksums a second that matter; fewer are the link's daily work (source: DCGM,
DCGM_LIMIT_MAX_NVLINK_CRC_ERROR)."""

MOST_REPLAYS = 0
"""Replays and recoveries that are still normal (source: DCGM, DCGM_LIMIT_MAX_NVLINK_ERROR: one is
too many)."""


@rule(kind="NvlinkErrors", severity=WARNING, holds=samples(3), clears=after(minutes=10))
def nvlink_errors(now: NodeSample, past: History) -> Iterator[Finding | LookAgain]:
    """Counters of a GPU's links grow: what they stood at when they were first read says nothing."""
    for gpu in now.gpus:
        grave = grown(past, gpu, lambda one: one.nvlink_crc_errors)
        if grave is not None and grave.by < CRC_PER_S * max(grave.took_s, 1.0):
            grave = None
        replays = grown(past, gpu, lambda one: one.nvlink_replay_errors)
        recoveries = grown(past, gpu, lambda one: one.nvlink_recovery_errors)
        texts = [
            *([f"{round(grave.by / max(grave.took_s, 1.0))} CRC errors/s"] if grave else []),
            *_counted("replays", replays),
            *_counted("recoveries", recoveries),
        ]
        if not texts:
            continue
        found = [one for one in (grave, replays, recoveries) if one is not None]
        yield LookAgain(min(one.forgotten_s for one in found))
        yield _finding(gpu, ", ".join(texts), is_grave=grave is not None)


def _counted(what: str, growth: Grown | None) -> list[str]:
    if growth is None or growth.by <= MOST_REPLAYS:
        return []
    return [f"{growth.by} {what} within a minute"]


def _finding(gpu: GpuSample, text: str, *, is_grave: bool) -> Finding:
    return Finding(
        Subject.of_gpu(gpu),
        cause="link",
        cause_text=f"NVLink: {text}",
        action=Action.CHECK_LINK,
        action_text=f"find the link (nvidia-smi nvlink -e -i {gpu.index}), drain, reset the GPU; "
        "if it goes on, its bridge or baseboard",
        evidence=(
            f"NVLink errors: {gpu.nvlink_crc_errors} CRC, {gpu.nvlink_replay_errors} replays, "
            f"{gpu.nvlink_recovery_errors} recoveries",
        ),
        severity=CRITICAL if is_grave else WARNING,
        under=("GpuLost", "NvlinkDown"),
    )
