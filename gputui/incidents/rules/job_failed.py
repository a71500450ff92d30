"""A job that failed: for a reason of its own, or for one that stands above it."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_causes import WITHIN_S
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.losses import lost_at_about
from gputui.incidents.rule import INFO, WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent
from gputui.logs.text_facts import Role
from gputui.model import Action
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
        index, whom = lost
        text = f"{whom} is lost"
        yield job_finding(
            event,
            fact,
            past,
            cause="lost-gpu",
            cause_text=text,
            action=Action.RESTART_APP,
            action_text="start it again from its checkpoint, on other GPUs",
            gpu=index,
        )
        return
    said = fact.role is Role.SYMPTOM and event.field("level") in ("debug", "info")
    yield job_finding(event, fact, past, severity=INFO if said else None, gpu=event.gpu)


def _lost_gpu(event: JobEvent, past: History) -> tuple[int | None, str] | None:
    """The GPU of the job that the kernel, or NVML, has just called lost: its index, where that is
    known, and its name.

    Of a job that had ended before anybody looked nobody knows the GPUs: it is one of the node's.
    """
    gone = lost_at_about(event.time_s, past, WITHIN_S)
    own = past.gpus_of_job(event.job or "")
    for gpu in own:
        if gpu.bus_id in gone or gpu.return_code == GPU_IS_LOST:
            return gpu.index, f"GPU {gpu.index} of it"
    if own:
        return None
    others = past.gpus_of_others(event.job or "")
    for bus_id in sorted(gone):
        there = past.gpu_at(bus_id)
        if there is None or there.index not in others:
            return None, f"GPU {bus_id if there is None else there.index} of its node"
    return None
