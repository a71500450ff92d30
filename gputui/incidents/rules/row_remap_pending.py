"""Rows of a GPU's memory that wait for its next reset to be replaced."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents import evidence
from gputui.incidents.history import History
from gputui.incidents.memory_errors import REMAP_XID, is_about_pages, over, rows_told
from gputui.incidents.rule import (
    WARNING,
    Finding,
    Noticed,
    Subject,
    after,
    log_rule,
    rule,
    samples,
    xids,
)
from gputui.incidents.steps import steps
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, GpuSample, NodeSample

_UNDER = ("GpuLost", "EccUncorrectable", "RowRemapFailure")
_UNTIL_RESET = after(hours=24)


@log_rule(kind="RowRemapPending", severity=WARNING, clears=_UNTIL_RESET, hears=xids(REMAP_XID))
def row_remap_pending_told(event: KernelEvent, past: History) -> Iterator[Finding]:
    """Xid 63 of a GPU that replaces rows (Ampere and later)."""
    if event.bus_id is None:
        return
    gpu = past.gpu_at(event.bus_id)
    if not is_about_pages(event, gpu):
        subject = Subject.of_gpu(gpu) if gpu else Subject.of_bus(event.bus_id)
        yield _finding(subject, gpu, past, (event.text,))


@rule(kind="RowRemapPending", severity=WARNING, holds=samples(1), clears=_UNTIL_RESET)
def row_remap_pending(now: NodeSample, past: History) -> Iterator[Noticed]:
    """The remapper says so. The GPU works on; the spare rows are in place after a reset.

    NVIDIA's A100 memory error management: reset when the node is drained. When the reading says
    that nothing waits any more, it is over.
    """
    for gpu in now.gpus:
        subject = Subject.of_gpu(gpu)
        known = past.counters.last(gpu) or gpu
        told = rows_told(gpu, past, REMAP_XID, now.time_s)
        if known.remap_pending:
            yield _finding(subject, known, past, evidence.told(told, now.time_s))
        else:
            yield from over(gpu, past, "remap_pending", told, now.time_s)


def _finding(
    subject: Subject, gpu: GpuSample | None, past: History, pieces: tuple[str, ...]
) -> Finding:
    rows = "rows wait"
    if gpu is not None and past.counters.growth(gpu, "remapped_rows_uncorrectable"):
        rows = "rows of uncorrectable errors wait"
    reading = ("remapped rows: pending",) if gpu is not None and gpu.remap_pending else ()
    return Finding(
        subject,
        cause="dram",
        cause_text=f"bad {rows} to be replaced at the next reset",
        action=Action.DRAIN_AND_RESET,
        action_text=steps(Action.DRAIN_AND_RESET, subject),
        evidence=(*pieces, *reading) or ("Xid 63",),
        under=_UNDER,
    )
