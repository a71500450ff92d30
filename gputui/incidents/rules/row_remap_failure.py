"""A GPU whose memory has no spare rows left, or soon will have none."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents import evidence
from gputui.incidents.history import History
from gputui.incidents.memory_errors import REMAP_FAILURE_XID, is_about_pages, over, rows_told
from gputui.incidents.rule import (
    CRITICAL,
    INFO,
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
from gputui.model import Action, GpuSample, NodeSample, Severity

_UNDER = ("GpuLost", "EccUncorrectable")
_FOR_LIFE = after(hours=24)
_DAY_S = 86_400.0

MOST_ROWS = 512
"""Rows replaced for uncorrectable errors at which DCGM warns, and beyond which Azure's node health
check fails a GPU."""

_FORESEEN_DAYS = 30.0
_LEAST_NEW_ROWS = 4
"""Fewer new rows than this make no trend."""


@log_rule(
    kind="RowRemapFailure", severity=CRITICAL, clears=_FOR_LIFE, hears=xids(REMAP_FAILURE_XID)
)
def row_remap_failure_told(event: KernelEvent, past: History) -> Iterator[Finding]:
    """Xid 64 of a GPU that replaces rows: one could not be."""
    if event.bus_id is None:
        return
    gpu = past.gpu_at(event.bus_id)
    if not is_about_pages(event, gpu):
        subject = Subject.of_gpu(gpu) if gpu else Subject.of_bus(event.bus_id)
        yield _finding(subject, CRITICAL, "a bad row could not be replaced", (event.text,))


@rule(kind="RowRemapFailure", severity=CRITICAL, holds=samples(1), clears=_FOR_LIFE)
def row_remap_failure(now: NodeSample, past: History) -> Iterator[Noticed]:
    """A replacement that failed is critical, the end of the spare rows a warning.

    The failure flag stands for the board's life (NVIDIA: have it replaced after field diagnostics).
    A bank without spares fails at its next error; one with few is worth knowing. Rows that are
    replaced faster than the board can bear for a month are foreseen.
    """
    for gpu in now.gpus:
        subject = Subject.of_gpu(gpu)
        known = past.counters.last(gpu) or gpu
        told = rows_told(gpu, past, REMAP_FAILURE_XID, now.time_s)
        if known.remap_failed:
            pieces = (*evidence.told(told, now.time_s), "remapped rows: failure occurred")
            yield _finding(subject, CRITICAL, "a bad row could not be replaced", pieces)
        elif spent := _spent(known, past):
            severity, text, reading = spent
            yield _finding(subject, severity, text, (reading,))
        else:
            yield from over(gpu, past, "remap_failed", told, now.time_s)


def _spent(gpu: GpuSample, past: History) -> tuple[Severity, str, str] | None:
    """How far the spare rows are spent: how bad that is, in words, and the reading."""
    rows = gpu.remapped_rows_uncorrectable or 0
    if gpu.remap_banks_none:
        banks = gpu.remap_banks_none
        return WARNING, _banks(banks, "no spare row left"), f"banks without spare rows: {banks}"
    reading = f"rows replaced for uncorrectable errors: {rows}"
    if rows >= MOST_ROWS:
        return WARNING, f"{rows} rows replaced, the most is {MOST_ROWS}", reading
    grown = past.counters.growth(gpu, "remapped_rows_uncorrectable")
    if grown is not None and grown.by >= _LEAST_NEW_ROWS:
        days = max(grown.last_s - grown.since_s, 1.0) / _DAY_S
        left_days = (MOST_ROWS - rows) * days / grown.by
        if left_days <= _FORESEEN_DAYS:
            return WARNING, f"spare rows will be spent in {_time(left_days)}", reading
    if gpu.remap_banks_low:
        banks = gpu.remap_banks_low
        return INFO, _banks(banks, "few spare rows left"), f"banks with few spare rows: {banks}"
    return None


def _banks(count: int, what: str) -> str:
    return f"{count} bank{'s have' if count > 1 else ' has'} {what}"


def _time(days: float) -> str:
    return f"{days:.0f} d" if days >= 2 else f"{days * 24:.0f} h"


def _finding(subject: Subject, severity: Severity, text: str, pieces: tuple[str, ...]) -> Finding:
    action = Action.IGNORE if severity is INFO else Action.REPLACE_GPU
    told = "nothing yet; keep an eye on it" if severity is INFO else steps(action, subject)
    return Finding(
        subject,
        cause="dram",
        cause_text=text,
        action=action,
        action_text=told,
        evidence=pieces,
        under=_UNDER,
        severity=severity,
    )
