"""A rank that tries to reach a peer: news while it tries, the cause once NCCL fails after it."""

from __future__ import annotations

from gputui.incidents.history import History
from gputui.logs.job_event import JobEvent
from gputui.logs.text_facts import Role, text_fact

_RETRIES = 10
"""A rank that comes before rank 0 tries a few times: that is no failure yet."""

_GIVES_UP_WITHIN_S = 600.0
"""NCCL tries a refused connection for half a minute, one that times out three times two minutes."""


def is_try(event: JobEvent) -> bool:
    """Whether a text says that its rank tries again, or is NCCL's ordinary news."""
    return event.field("retry") is not None or event.field("nccl") == "INFO"


def is_only_trying(event: JobEvent, past: History) -> bool:
    """Whether an event is a try, of few, and nothing failed after it."""
    if not is_try(event):
        return False
    if len(past.job_said(event.job, event.pattern)) >= _RETRIES:
        return False
    return not any(
        0 <= last_s - event.time_s <= _GIVES_UP_WITHIN_S and _is_failure_of_nccl(pattern)
        for pattern, last_s in past.job_patterns(event.job).items()
    )


def has_only_tried(job: str | None, past: History) -> bool:
    """Whether nothing that a job said of its ranks' coming together was more than such a try."""
    said = [
        past.job_said(job, pattern)[-1] for pattern in past.job_patterns(job) if _tells(pattern)
    ]
    return all(is_only_trying(one, past) for one in said)


def failed_try(event: JobEvent, past: History) -> JobEvent | None:
    """The last try of a job before NCCL's word that it failed; None for any other event.

    None, too, where the job has said itself which of them came to nothing.
    """
    if not _is_failure_of_nccl(event.pattern):
        return None
    said = [
        past.job_said(event.job, pattern)[-1]
        for pattern, last_s in past.job_patterns(event.job).items()
        if 0 <= event.time_s - last_s <= _GIVES_UP_WITHIN_S and _tells(pattern)
    ]
    if not all(map(is_try, said)):
        return None
    return max(said, key=lambda one: one.time_s, default=None)


def _tells(pattern: str) -> bool:
    fact = text_fact(pattern)
    return fact is not None and (fact.kind, fact.role) == ("NcclInitFailed", Role.CAUSE)


def _is_failure_of_nccl(pattern: str) -> bool:
    fact = text_fact(pattern)
    return fact is not None and fact.role is Role.SYMPTOM and fact.family.startswith("nccl")
