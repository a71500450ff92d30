"""Programs that ask for a GPU which no longer answers."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import CRITICAL, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="GpuLost", severity=CRITICAL, clears=QUIET)
def gpu_lost_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """NVML's and nvidia-smi's words in a job's log: seen where the kernel log is not."""
    fact = told(event, "GpuLost")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
