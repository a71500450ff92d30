"""Programs that find another driver in the kernel than in their libraries."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import CRITICAL, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="DriverMismatch", severity=CRITICAL, clears=QUIET)
def driver_mismatch_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """NVML, CUDA and the container toolkit refuse in the same words."""
    fact = told(event, "DriverMismatch")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
