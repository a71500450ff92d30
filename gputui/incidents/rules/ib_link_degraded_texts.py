"""A job that is told of trouble by its InfiniBand port."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="IbLinkDegraded", severity=WARNING, clears=QUIET)
def ib_link_degraded_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """NCCL passes on the port's events: down, up, a fatal error of the device."""
    fact = told(event, "IbLinkDegraded")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
