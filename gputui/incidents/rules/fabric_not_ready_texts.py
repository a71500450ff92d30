"""Programs that find the NVSwitch fabric not ready."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="FabricNotReady", severity=WARNING, clears=QUIET)
def fabric_not_ready_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """CUDA's error 802 and 919, and NVLink's multicast failing in NCCL."""
    fact = told(event, "FabricNotReady")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
