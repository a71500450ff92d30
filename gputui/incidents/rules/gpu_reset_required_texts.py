"""A reset that was refused because something holds the GPU."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="GpuResetRequired", severity=WARNING, clears=QUIET)
def gpu_reset_required_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """nvidia-smi lists what it could not reset; the GPU waits for it."""
    fact = told(event, "GpuResetRequired")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
