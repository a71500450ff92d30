"""A job that failed: for a reason of its own, or for one that stands above it."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_causes import WITHIN_S
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import INFO, WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent
from gputui.logs.text_facts import Role
from gputui.sources.reasons import GPU_IS_LOST


@job_rule(kind="JobFailed", severity=WARNING, clears=QUIET)
def job_failed(event: JobEvent, past: History) -> Iterator[Finding]:
    """The first word that explains it decides; how launchers and schedulers report it adds nothing.

    What is wrong with its GPUs or its node at the time is its cause, and it hangs under that; of a
    GPU that is lost the job knows no more than that a call failed.
    """
    fact = told(event, "JobFailed")
    if fact is None or not decides(event, fact, past):
        return
    lost = _lost_gpu(event, past)
    if lost is not None:
        text = f"GPU {lost} of it is lost"
        yield job_finding(event, fact, past, cause="lost-gpu", cause_text=text, gpu=lost)
        return
    said = fact.role is Role.SYMPTOM and event.field("level") in ("debug", "info")
    yield job_finding(event, fact, past, severity=INFO if said else None, gpu=event.gpu)


def _lost_gpu(event: JobEvent, past: History) -> int | None:
    """The GPU of the job that the kernel, or NVML, has just called lost."""
    gone = {
        other.bus_id
        for other in past.events("gpu_lost")
        if abs(other.time_s - event.time_s) <= WITHIN_S
    }
    for gpu in past.gpus_of_job(event.job or ""):
        if gpu.bus_id in gone or gpu.return_code == GPU_IS_LOST:
            return gpu.index
    return None
