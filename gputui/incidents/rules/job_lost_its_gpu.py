"""A job whose processes are all gone at the moment at which one of its GPUs fails."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import WARNING, Cause, Finding, Subject, after, rule, samples
from gputui.model import Action, GpuSample, NodeSample, ProcessSample
from gputui.sources.reasons import LOST_CODES, RESET_REQUIRED, TIMEOUT

_MOMENT_S = 20.0
"""A job that ends so soon after its GPU failed, ended for it (the Delta study's window)."""

_BROKEN = LOST_CODES | {RESET_REQUIRED, TIMEOUT}


@rule(kind="JobFailed", severity=WARNING, holds=samples(1), clears=after(minutes=10))
def job_lost_its_gpu(now: NodeSample, past: History) -> Iterator[Finding]:
    """Jobs end every day, and that is no incident. One that ends while a GPU of its is broken, or
    within 20 s of a grave incident on it, has failed, and the GPU's incident is why.

    Its processes have to be gone from GPUs that answer: on one that does not, nobody can be listed.
    """
    living = {process.job for process in now.processes}
    ended: dict[str, list[ProcessSample]] = {}
    for process in past.processes_before:
        if process.job is not None and process.job not in living:
            ended.setdefault(process.job, []).append(process)
    answering = {gpu.index for gpu in now.gpus if gpu.return_code == 0}
    for job, processes in ended.items():
        if not answering.issuperset(process.gpu for process in processes):
            continue
        for gpu in past.gpus_of_job(job):
            causes = _causes(gpu, now, past)
            if causes:
                yield _finding(job, processes, gpu, causes)
                break


def _causes(gpu: GpuSample, now: NodeSample, past: History) -> tuple[Cause, ...]:
    """The incidents of which a job may have died that used this GPU."""
    name = Subject.of_gpu(gpu).name
    kinds: dict[str, None] = {}
    if gpu.return_code in _BROKEN:
        kinds |= dict.fromkeys(("GpuLost", "GpuHung", "GpuResetRequired"))
    for failure in past.failures.since(name, 0.0):
        if now.time_s - failure.last_s <= _MOMENT_S:
            kinds |= dict.fromkeys(failure.kinds)
    return tuple(Cause(kind, on=name) for kind in kinds)


def _finding(
    job: str, processes: list[ProcessSample], gpu: GpuSample, causes: tuple[Cause, ...]
) -> Finding:
    is_slurm = processes[0].job_kind == "slurm"
    command = f" (scontrol requeue {job})" if is_slurm else ""
    return Finding(
        Subject.of_job(job),
        cause="lost-gpu",
        cause_text=f"its {len(processes)} processes here ended as GPU {gpu.index} failed",
        action=Action.RESTART_APP,
        action_text=f"drain the node, start the job again from its checkpoint{command}",
        evidence=tuple(
            f"pid {one.pid} on GPU {one.gpu} is gone: {one.command or '?'}" for one in processes[:8]
        ),
        under=causes,
    )
