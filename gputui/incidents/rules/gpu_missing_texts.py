"""Programs that find no GPU though the driver is loaded."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import CRITICAL, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="GpuMissing", severity=CRITICAL, clears=QUIET)
def gpu_missing_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """nvidia-smi's word for a driver without devices."""
    fact = told(event, "GpuMissing")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
