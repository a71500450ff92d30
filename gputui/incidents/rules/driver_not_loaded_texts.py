"""Programs that find no driver."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="DriverNotLoaded", severity=WARNING, clears=QUIET)
def driver_not_loaded_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """No driver, or no GPU that this job may see: the program cannot tell which."""
    fact = told(event, "DriverNotLoaded")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
