"""A job that met memory which ECC could not correct."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import CRITICAL, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="EccUncorrectable", severity=CRITICAL, clears=QUIET)
def ecc_uncorrectable_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """CUDA's error 214. The kernel log tells which GPU it was; the job, only that it was hit."""
    fact = told(event, "EccUncorrectable")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
