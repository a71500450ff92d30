"""A GPU that somebody holds and does not use."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.age import age
from gputui.incidents.history import History
from gputui.incidents.holders import Held, grouped, has_ended, holders
from gputui.incidents.rule import INFO, WARNING, Finding, after, rule, samples
from gputui.model import Action, GpuSample, NodeSample

_IDLE_PERCENT = 2
"""What drivers read of a GPU on which nothing but monitors runs."""

_GIB = 1 << 30


@rule(kind="GpuIdleAllocated", severity=INFO, holds=after(minutes=15), clears=samples(3))
def gpu_idle_allocated(now: NodeSample, past: History) -> Iterator[Finding]:
    """Processes have a GPU, and no kernel ran on it for ``idle`` (15 min).

    That is longer than a checkpoint, an evaluation on the CPU or the loading of a model takes, and
    longer than NCCL's watchdog lets a collective hang (10 min). It is a warning where a scheduler
    gave the GPU to a job, because nobody else can have it; a notebook may rest. If all of a job's
    GPUs rest it is the job's.
    """
    resting = [gpu for gpu in now.gpus if _rests(gpu, now)]
    for held in grouped(now, resting):
        yield Finding(
            held.subject,
            cause="static-partition",
            cause_text=f"held, but unused for {age(past.thresholds.idle_s)} or longer",
            action=Action.CHECK_CONFIG,
            action_text=_advice(held),
            evidence=tuple(_evidence(held, now)),
            severity=WARNING if held.is_scheduled else INFO,
            holds=after(seconds=past.thresholds.idle_s),
        )


def _rests(gpu: GpuSample, now: NodeSample) -> bool:
    if gpu.utilization_percent is None or gpu.utilization_percent > _IDLE_PERCENT:
        return False
    return any(
        one.kind == "compute" and not has_ended(one, is_idle=True) for one in holders(now, gpu)
    )


def _advice(held: Held) -> str:
    if held.is_scheduled and held.job is not None:
        return f"see what job {held.job} waits for (py-spy dump), or give its GPUs back"
    return "see what its process waits for (py-spy dump --pid PID), or end it"


def _evidence(held: Held, now: NodeSample) -> Iterator[str]:
    for gpu in held.gpus[:8]:
        for one in holders(now, gpu)[:2]:
            who = f"pid {one.pid}" + (f" of {one.user}" if one.user else "")
            memory = f" holds {(one.memory_bytes or 0) / _GIB:.1f} GiB" if one.memory_bytes else ""
            yield f"GPU {gpu.index}: {who}{memory}, {one.command or '?'}"
