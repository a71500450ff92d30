"""The same Xid on all GPUs of one job at once: the job's own doing, not that of its GPUs."""

from __future__ import annotations

from dataclasses import dataclass

from gputui.incidents.history import History
from gputui.incidents.rule import Subject
from gputui.logs.kernel import KernelEvent

AT_ONCE_S = 5.0
_LEAST_OF_UNKNOWN = 3
"""Where nobody knows the jobs, one process name on so many GPUs is taken for one."""


@dataclass(frozen=True, slots=True)
class Struck:
    """A job whose GPUs all had the same Xid at once. ``gpus`` are the names of these subjects."""

    job: Subject
    name: str
    gpus: tuple[str, ...]


def struck_together(event: KernelEvent, past: History) -> Struck | None:
    """The job that an Xid concerns as a whole; None if it is one GPU's alone."""
    same = {
        other.bus_id: other for other in past.at_once(event, AT_ONCE_S) if other.bus_id is not None
    }
    if len(same) < 2:
        return None
    job = _job_of(event, past)
    if job is None:
        struck = {
            bus_id for bus_id, other in same.items()
            if event.process is not None and other.process == event.process
        }  # fmt: skip
        job = event.process or ""
        if len(struck) < _LEAST_OF_UNKNOWN:
            return None
    else:
        struck = set(same)
        its_gpus = {gpu.bus_id for gpu in past.gpus_of_job(job) if gpu.bus_id is not None}
        if len(its_gpus) < 2 or not its_gpus <= struck:
            return None
        struck = its_gpus
    names = tuple(sorted(_name(bus_id, past) for bus_id in struck if bus_id is not None))
    return Struck(Subject.of_job(job), job, names)


def _job_of(event: KernelEvent, past: History) -> str | None:
    if event.pid is None:
        return None
    return next((one.job for one in past.process(event.pid) if one.job is not None), None)


def _name(bus_id: str, past: History) -> str:
    gpu = past.gpu_at(bus_id)
    return (Subject.of_gpu(gpu) if gpu else Subject.of_bus(bus_id)).name
