"""A job that lost a node."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import CRITICAL, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="NodeDown", severity=CRITICAL, clears=QUIET)
def node_down_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """The scheduler's or the launcher's word: its node failed, or is not reached."""
    fact = told(event, "NodeDown")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
