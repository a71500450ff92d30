"""A container that was given no GPU, or lost it."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent


@job_rule(kind="ContainerLostGpu", severity=WARNING, clears=QUIET)
def container_lost_gpu_texts(event: JobEvent, past: History) -> Iterator[Finding]:
    """The container runtime's words, and NVML's within a container."""
    fact = told(event, "ContainerLostGpu")
    if fact is not None and decides(event, fact, past):
        yield job_finding(event, fact, past)
