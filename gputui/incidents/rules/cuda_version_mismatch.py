"""A program that does not fit the driver, the GPU or the libraries that it finds."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="CudaVersionMismatch", severity=WARNING, clears=QUIET)
def cuda_version_mismatch(event: JobEvent, past: History) -> Iterator[Finding]:
    """The program says so itself, and which versions it wants; nothing else can know."""
    fact = told(event, "CudaVersionMismatch")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
