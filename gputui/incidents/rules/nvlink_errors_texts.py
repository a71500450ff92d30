"""A job that met errors of NVLink."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="NvlinkErrors", severity=WARNING, clears=QUIET)
def nvlink_errors_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """CUDA's errors 220 and 226, and NCCL where NVLink is there but does not work."""
    fact = told(event, "NvlinkErrors")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
