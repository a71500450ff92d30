"""Memory that is used, and that nobody who lives accounts for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gputui.incidents.history import History
from gputui.incidents.holders import has_ended, holders
from gputui.incidents.rule import WARNING, Finding, Subject, after, rule, samples
from gputui.model import Action, GpuSample, NodeSample, ProcessSample

_GIB = 1 << 30
_LISTS_NO_CLIENTS = "nvidia-cuda-mps-server"
"""The multi-process service: its clients are not in the list of compute processes."""


@rule(
    kind="GpuMemoryHeld",
    severity=WARNING,
    holds=after(seconds=10),
    clears=samples(3),
)
def memory_held(now: NodeSample, past: History) -> Iterator[Finding]:
    """Used memory, without the driver's reserve, is the sum of what living processes hold.

    What is above that by 1 GiB and ``memory_held`` of the total (2 %: contexts and rounding) for
    ten seconds (a process that ends needs some to let go of 80 GiB) is held by a process that has
    ended and is still listed (*zombie*), or by nobody (*leak*).

    Nothing is said where a GPU computes, or did, and nobody is listed: somebody does whom this
    container may not see. Nor where the driver does not tell who holds how much.
    """
    limits = past.thresholds
    for gpu in now.gpus:
        used, total = gpu.memory_used_bytes, gpu.memory_total_bytes
        if used is None or not total or gpu.mig_enabled or past.neighbours.works_on(gpu.index):
            continue
        listed = holders(now, gpu)
        is_idle = not gpu.utilization_percent and not any(
            share for _, share in past.series(gpu.index, _utilization, last_s=30.0)
        )
        dead = [one for one in listed if has_ended(one, is_idle=is_idle)]
        living = [one for one in listed if one not in dead]
        if any(one.memory_bytes is None or _hides_others(one) for one in living):
            continue
        unowned = used - sum(one.memory_bytes or 0 for one in living)
        if unowned <= max(limits.memory_held_bytes, limits.memory_held_share * total):
            continue
        if listed or is_idle:
            yield _finding(gpu, unowned, used, dead)


def _utilization(gpu: GpuSample) -> int | None:
    return gpu.utilization_percent


def _hides_others(process: ProcessSample) -> bool:
    return _LISTS_NO_CLIENTS in (process.command or "")


def _finding(gpu: GpuSample, unowned: int, used: int, dead: Sequence[ProcessSample]) -> Finding:
    device = f"fuser -v /dev/nvidia{gpu.index}"
    if dead:
        pids = ", ".join(str(one.pid) for one in dead[:4])
        text = f"{unowned / _GIB:.1f} GiB held by pid {pids}, which has ended"
        action_text = f"end what is left of it ({device}), or reset the GPU"
    else:
        text = f"{unowned / _GIB:.1f} GiB held by nobody"
        action_text = f"see who has it open ({device}); if nobody, reset the GPU"
    return Finding(
        Subject.of_gpu(gpu),
        cause="zombie" if dead else "leak",
        cause_text=text,
        action=Action.FREE_MEMORY,
        action_text=action_text,
        evidence=(
            f"{used / _GIB:.1f} GiB used, {(used - unowned) / _GIB:.1f} GiB of it by processes",
            *(f"pid {one.pid} {one.command or ''}: {one.unreachable}".strip() for one in dead[:4]),
        ),
    )
