"""Who holds a GPU: its processes, and the jobs that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gputui.incidents.rule import Subject
from gputui.model import GpuSample, NodeSample, ProcessSample
from gputui.sources.namespace import NOT_HERE
from gputui.sources.reasons import HAS_ENDED, REUSED

SCHEDULED = frozenset({"slurm", "lsf", "pbs", "pod"})
"""Kinds of jobs to which a scheduler gave their GPUs, so that nobody else has them."""

_DEAD = frozenset({HAS_ENDED, REUSED})


def holders(now: NodeSample, gpu: GpuSample) -> list[ProcessSample]:
    """The processes that the driver lists for a GPU."""
    return [one for one in now.processes if one.gpu == gpu.index]


def has_ended(process: ProcessSample, *, is_idle: bool) -> bool:
    """Whether a process that the driver lists is one no longer.

    One that is not in /proc has ended or is hidden from this user: it has, on an idle GPU.
    """
    return process.unreachable in _DEAD or (is_idle and process.unreachable == NOT_HERE)


@dataclass(frozen=True, slots=True)
class Held:
    """GPUs in one trouble, and who has them: one of a job's or of nobody's, or all of a job's.

    ``job`` is None where it is not known. ``is_scheduled``: a scheduler gave them to the job.
    """

    gpus: tuple[GpuSample, ...]
    job: str | None
    is_scheduled: bool

    @property
    def subject(self) -> Subject:
        """The job, where all of its GPUs are in it; else the GPU."""
        if len(self.gpus) > 1 and self.job is not None:
            return Subject.of_job(self.job)
        return Subject.of_gpu(self.gpus[0])


def grouped(now: NodeSample, troubled: Sequence[GpuSample]) -> Iterator[Held]:
    """GPUs in the same trouble, by what has it: several GPUs of a job that are all of its own are
    the job's trouble, any others each their own.
    """
    jobs: dict[int, str | None] = {}
    scheduled: set[int] = set()
    for process in now.processes:
        jobs[process.gpu] = process.job if process.gpu not in jobs else _same(jobs, process)
        if process.job_kind in SCHEDULED:
            scheduled.add(process.gpu)
    indices = {gpu.index for gpu in troubled}
    told: set[str] = set()
    for gpu in troubled:
        job = jobs.get(gpu.index)
        of_job = [index for index, name in jobs.items() if job is not None and name == job]
        if job is not None and len(of_job) > 1 and indices.issuperset(of_job):
            if job not in told:
                told.add(job)
                its_own = tuple(one for one in troubled if one.index in of_job)
                yield Held(its_own, job, gpu.index in scheduled)
        else:
            yield Held((gpu,), job, gpu.index in scheduled)


def _same(jobs: dict[int, str | None], process: ProcessSample) -> str | None:
    """The job of a GPU that has another process already: none where they differ."""
    return process.job if jobs[process.gpu] == process.job else None
