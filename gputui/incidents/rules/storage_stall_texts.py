"""A job whose files cannot be read or written."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="StorageStall", severity=WARNING, clears=QUIET)
def storage_stall_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """The system's errors on files: full, over quota, stale, read-only, not reached, not whole."""
    fact = told(event, "StorageStall")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
