"""A GPU that has switched itself off for heat."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.heat import is_room, shut_down
from gputui.incidents.history import History
from gputui.incidents.rule import CRITICAL, Finding, Over, Subject, rule, samples
from gputui.model import Action, GpuSample, NodeSample


@rule(kind="GpuThermalShutdown", severity=CRITICAL, holds=samples(1), clears=samples(4))
def thermal_shutdown(now: NodeSample, past: History) -> Iterator[Finding | Over]:
    """It no longer answers, and was at the hardware's slowdown or near its shutdown when it last
    did.

    To the driver it has fallen off the bus (Xid 79): the loss and the heat before it are what this
    brought about, and hang under it. If all others are hot, or gone in the same way, it is the
    room: one incident of the node.
    """
    gone = shut_down(now, past)
    if not gone:
        return
    if len(now.gpus) > 1 and is_room(now, past):
        yield _room(now, gone)
        for gpu in gone:
            yield Over(Subject.of_gpu(gpu))
        return
    for gpu in gone:
        yield Finding(
            Subject.of_gpu(gpu),
            cause="fan" if gpu.fan_percent == 0 else "heat-sink",
            cause_text=f"switched itself off at {_last(gpu)}",
            action=Action.CHECK_COOLING,
            action_text="check its heat sink and airflow, then ipmitool chassis power cycle",
            evidence=(_reading(gpu),),
        )


def _room(now: NodeSample, gone: list[GpuSample]) -> Finding:
    left = len(now.gpus) - len(gone)
    others = f"; the other {left} are hot" if left else ""
    return Finding(
        Subject.of_node(now.host),
        cause="room",
        cause_text=f"{len(gone)} of {len(now.gpus)} GPUs switched themselves off for heat{others}",
        action=Action.CHECK_COOLING,
        action_text="check room cooling and the node's fans, then ipmitool chassis power cycle",
        evidence=tuple(f"GPU {gpu.index}: {_reading(gpu)}" for gpu in gone),
        others=tuple(Subject.of_gpu(gpu).name for gpu in gone),
    )


def _last(gpu: GpuSample) -> str:
    return "its limit" if gpu.temperature_c is None else f"{gpu.temperature_c} C"


def _reading(gpu: GpuSample) -> str:
    limit = gpu.temperature_shutdown_c
    told = "" if limit is None else f", switches itself off at {limit}"
    return f"last read: {gpu.temperature_c} C{told}; reasons {gpu.clock_reasons or 0:#x}"
