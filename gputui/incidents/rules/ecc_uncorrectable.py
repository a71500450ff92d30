"""Memory of a GPU that failed so that ECC could not correct it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gputui.incidents import evidence
from gputui.incidents.history import History
from gputui.incidents.memory_errors import (
    REMAP_FAILURE_XID,
    REMAP_XID,
    UNCORRECTABLE_XIDS,
    is_about_pages,
    is_on_chip,
    xids_on,
)
from gputui.incidents.rule import (
    CRITICAL,
    WARNING,
    Finding,
    Over,
    Subject,
    after,
    log_rule,
    rule,
    samples,
    xids,
)
from gputui.incidents.steps import steps
from gputui.incidents.verdict import RECOVERY_ACTION_CHANGED, said_in, severity_of, verdict
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, GpuSample, NodeSample

_DOUBLE_BIT, _CONTAINED, _UNCONTAINED, _ESCAPED = 48, 94, 95, 140
_QUIET = after(hours=24)
_XIDS = xids(*UNCORRECTABLE_XIDS, RECOVERY_ACTION_CHANGED)

_TOLD_AT_END = 4

_COUNTED_WITHIN_S = 30.0
"""What the log tells, the counters tell by then, unless it has been taken back by a reset."""

_TOGETHER_S = 10.0
"""What the driver tells within so many seconds is of one error."""

_MOST_SRAM_ERRORS = 4
"""More than this over a board's life, and it is returned: field practice where the driver's own
flag (``sram_threshold_exceeded``, NVIDIA's workflow for Xid 48) is not told."""

_TOO_OFTEN = "its on-chip memory has failed too often"

_BY_CAUSE = {
    "contained": Action.RESTART_APP,
    "uncontained": Action.RESET_GPU,
    "dram": Action.DRAIN_AND_RESET,
    "sram": Action.DRAIN_AND_RESET,
}
"""NVIDIA's Xid catalogue (October 2025): 94 RESTART_APP, 95 RESET_GPU, 48 WORKFLOW_XID_48."""

_TEXTS = {
    "contained": "uncorrectable memory error, contained to its application",
    "uncontained": "uncorrectable memory error, not contained",
    "dram": "uncorrectable error in its memory",
    "sram": "uncorrectable error in memory on the chip",
}


@log_rule(kind="EccUncorrectable", severity=CRITICAL, clears=_QUIET, hears=_XIDS)
def ecc_uncorrectable_told(event: KernelEvent, past: History) -> Iterator[Finding | Over]:
    """Xid 48, 94, 95, 140, 171 or 172: at once, and each counts.

    A recovery action of none (Xid 154) takes it back.
    """
    if event.bus_id is None:
        return
    gpu = past.gpu_at(event.bus_id)
    subject = Subject.of_gpu(gpu) if gpu else Subject.of_bus(event.bus_id)
    if event.code == RECOVERY_ACTION_CHANGED and said_in(event) is Action.IGNORE:
        yield Over(subject)
    elif event.code != RECOVERY_ACTION_CHANGED:
        told = (
            past.xids_near(UNCORRECTABLE_XIDS, event.time_s, _TOGETHER_S, event.bus_id)
            if gpu is None
            else xids_on(gpu, past, UNCORRECTABLE_XIDS, event.time_s)
        )
        yield _finding(subject, gpu, past, told or [event], (event.text,))


@rule(kind="EccUncorrectable", severity=CRITICAL, holds=samples(1), clears=_QUIET)
def ecc_uncorrectable(now: NodeSample, past: History) -> Iterator[Finding | Over]:
    """A volatile counter grew since the start, or the log told of an error: critical at once.

    Any growth fails a GPU at DCGM's health check, any in SRAM at Azure's. What a counter stood at
    when it was first read is no news, but that the driver's flag for too many in SRAM is up. A
    reset ends it: it sets the counters back.
    """
    for gpu in now.gpus:
        if past.counters.reset_s(gpu) == now.time_s:
            yield Over(Subject.of_gpu(gpu))
        told = xids_on(gpu, past, UNCORRECTABLE_XIDS, now.time_s)
        grown = past.counters.growth(gpu, "ecc_uncorrected_volatile")
        if grown is None and not (told and _goes_on(gpu, told[-1], now.time_s)):
            if gpu.ecc_sram_threshold_exceeded:
                yield _too_often(gpu)
            continue
        since_s = [event.time_s for event in told[:1]] + ([grown.last_s] if grown else [])
        pieces = evidence.told(_ends(told), now.time_s)
        if grown:
            pieces = (*pieces, f"{grown.by} uncorrectable ECC errors counted since the start")
        yield _finding(Subject.of_gpu(gpu), gpu, past, told, pieces, since_s=min(since_s))


def _too_often(gpu: GpuSample) -> Finding:
    """The driver's flag stands for the board's life: nothing happens now, but it will."""
    subject = Subject.of_gpu(gpu)
    return Finding(
        subject,
        cause="sram",
        cause_text=_TOO_OFTEN,
        action=Action.REPLACE_GPU,
        action_text=steps(Action.REPLACE_GPU, subject),
        evidence=(
            f"SRAM threshold exceeded; {gpu.ecc_sram_uncorrected_aggregate} uncorrectable errors",
        ),
        under=("GpuLost",),
        severity=WARNING,
        clears=samples(4),
    )


def _goes_on(gpu: GpuSample, last: KernelEvent, now_s: float) -> bool:
    """Whether what the log told still is so: a counter at zero says that it no longer is."""
    return gpu.ecc_uncorrected_volatile != 0 or now_s - last.time_s <= _COUNTED_WITHIN_S


def _finding(
    subject: Subject,
    gpu: GpuSample | None,
    past: History,
    told: Sequence[KernelEvent],
    pieces: tuple[str, ...],
    *,
    since_s: float | None = None,
) -> Finding:
    cause = _cause(gpu, past, told)
    action, text = _BY_CAUSE[cause], _text(cause, gpu, past, told)
    if gpu is not None:
        action = verdict(gpu, _lately(gpu, past, told)) or action
        if why := _why_replace(gpu, past, told):
            action, text = Action.REPLACE_GPU, f"{text}; {why}"
    elif said := verdict(None, told):
        action = said
    return Finding(
        subject,
        cause=cause,
        cause_text=text,
        action=action,
        action_text=steps(action, subject),
        evidence=pieces,
        under=("GpuLost",),
        since_s=since_s,
        severity=severity_of(action),
    )


def _text(cause: str, gpu: GpuSample | None, past: History, told: Sequence[KernelEvent]) -> str:
    """Of one error the driver may tell by several Xids: 48 what it was, 94 that it was contained,
    63 that a spare row waits to take the place of the bad one.
    """
    text = _TEXTS[cause]
    if not told:
        return text
    if cause == "contained" and any(event.code == _DOUBLE_BIT for event in _ends(told)):
        text = "double-bit error in its memory, contained to its application"
    last = told[-1]
    remapped = past.xids_near((REMAP_XID,), last.time_s, _TOGETHER_S, last.bus_id)
    if any(not is_about_pages(event, gpu) for event in remapped):
        text = f"{text}; a spare row takes its place at the next reset"
    return text


def _ends(told: Sequence[KernelEvent]) -> Sequence[KernelEvent]:
    """How it began and how it goes on: what stands between says the same."""
    return told if len(told) <= 2 * _TOLD_AT_END else (*told[:_TOLD_AT_END], *told[-_TOLD_AT_END:])


def _cause(gpu: GpuSample | None, past: History, told: Sequence[KernelEvent]) -> str:
    """Whether it was contained, as the driver says of Ampere and later; else where it was."""
    told = _ends(told)
    codes = {event.code for event in told}
    if codes & {_UNCONTAINED, _ESCAPED}:
        return "uncontained"
    if _CONTAINED in codes:
        return "contained"
    if any(map(is_on_chip, told)):
        return "sram"
    if gpu is not None and not told:
        if past.counters.growth(gpu, "ecc_dram_uncorrected_volatile"):
            return "dram"
        if past.counters.growth(gpu, "ecc_sram_uncorrected_volatile"):
            return "sram"
    return "dram"


def _lately(gpu: GpuSample, past: History, told: Sequence[KernelEvent]) -> list[KernelEvent]:
    """What was said of the errors, and what the driver has asked for since."""
    if not told:
        return []
    codes = (*UNCORRECTABLE_XIDS, RECOVERY_ACTION_CHANGED)
    return xids_on(gpu, past, codes, told[-1].time_s)


def _why_replace(gpu: GpuSample, past: History, told: Sequence[KernelEvent]) -> str:
    """Why a reset is not enough; empty if it may be.

    NVIDIA's workflow for Xid 48: an Xid 64 after it, or the SRAM threshold exceeded, leads to field
    diagnostics and the board's return.
    """
    known = past.counters.last(gpu) or gpu
    since_s = told[0].time_s if told else 0.0
    if known.remap_failed or xids_on(gpu, past, (REMAP_FAILURE_XID,), since_s):
        return "no spare row is left for it"
    if known.ecc_sram_threshold_exceeded:
        return _TOO_OFTEN
    sram = known.ecc_sram_uncorrected_aggregate or 0
    if past.counters.growth(gpu, "ecc_sram_uncorrected_volatile") and sram > _MOST_SRAM_ERRORS:
        return f"{sram} errors on the chip so far"
    return ""
