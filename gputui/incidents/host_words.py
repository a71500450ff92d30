"""What the kernel's own lines on processes and storage have in common as incidents."""

from __future__ import annotations

import re

from gputui.incidents.history import History
from gputui.incidents.rule import ANYBODY, CRITICAL, Cause, Subject
from gputui.logs.kernel import KernelEvent
from gputui.model import ProcessSample

SILENT, BACK = "storage_silent", "storage_back"
"""A file server that does not answer, and the same once it does (gputui.logs.host_lines)."""

_JOBS_PROGRAM = re.compile(r"python|pt_|torch|ray|mpi|vllm|sglang|tritonserver|jax|julia", re.I)
"""How the processes of jobs are called, where nobody sees whether they are on a GPU."""

_BEFORE_S = 600.0

OF_BROKEN_GPUS = tuple(
    Cause(kind, on=ANYBODY, within_s=_BEFORE_S, at_least=CRITICAL, anew=True)
    for kind in ("GpuLost", "GpuHung", "GpuResetRequired", "GpuXid")
)
"""Processes wait in the driver, which the kernel notices minutes after a GPU failed."""


def node_of(event: KernelEvent, past: History) -> Subject:
    """The node that a line is of."""
    return Subject.of_node(past.samples[-1].host if past.samples else event.host or "")


def on_a_gpu(event: KernelEvent, past: History) -> ProcessSample | None:
    """The process that a line names, as it was last seen on a GPU."""
    return next(iter(past.process(event.pid)), None) if event.pid is not None else None


def may_be_a_jobs(event: KernelEvent, past: History) -> bool:
    """Whether a line names a process that is on a GPU, or is called as those of jobs are."""
    if on_a_gpu(event, past) is not None:
        return True
    return _JOBS_PROGRAM.search(event.process or "") is not None


def silent_servers(past: History) -> list[str]:
    """The servers whose last word is that they do not answer."""
    last: dict[str, str] = {}
    for event in past.events(SILENT, BACK):
        last[event.detail] = event.kind
    return [name for name, kind in last.items() if kind == SILENT]
