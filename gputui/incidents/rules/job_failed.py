"""A job that failed: for a reason of its own, or for one that stands above it."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import INFO, WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent
from gputui.logs.text_facts import Role


@job_rule(kind="JobFailed", severity=WARNING, clears=QUIET)
def job_failed(event: JobEvent, past: History) -> Iterator[Finding]:
    """The first word that explains it decides; how launchers and schedulers report it adds nothing.

    What is wrong with its GPUs or its node at the time is its cause, and it hangs under that.
    """
    fact = told(event, "JobFailed")
    if fact is None or not decides(event, fact, past):
        return
    said = fact.role is Role.SYMPTOM and event.field("level") in ("debug", "info")
    yield job_finding(event, fact, past, severity=INFO if said else None, gpu=event.gpu)
