"""What the kernel log says of memory errors, and how the rules about them hang together.

One bad cell gives an Xid of its own, one for the row that is marked, one for what became of it, a
counter, a GPU that waits for its reset: one incident. The error itself is on top; a failed
replacement, a pending one, the storm of corrections before it hang under it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from gputui.incidents.history import History
from gputui.incidents.rule import LookAgain, Over, Subject
from gputui.incidents.verdict import RECOVERY_ACTION_CHANGED, said_in
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, GpuSample

UNCORRECTABLE_XIDS = frozenset({48, 94, 95, 140, 171, 172})
"""Double-bit, contained, uncontained, escaped; 171 and 172 say where an Xid 48 was."""

REMAP_XID, REMAP_FAILURE_XID, STORM_XID = 63, 64, 92

MEMORY_XIDS = UNCORRECTABLE_XIDS | {REMAP_XID, REMAP_FAILURE_XID, STORM_XID}

TOLD_FOR_S = 24 * 3600.0
"""An error is news for a day, if nothing takes it back before."""

MEMORY_KINDS = (
    "EccUncorrectable", "RowRemapFailure", "RowRemapPending", "RetiredPages", "EccStorm",
)  # fmt: skip
"""From what is the cause of the others down."""

_READ_WITHIN_S = 30.0
"""What the log tells, the readings tell by then."""

_PAGES = re.compile(r"\bDynamic Page Retirement\b|\bretired? page\b", re.I)
_ON_CHIP = re.compile(r"\b(?:SRAM|L1|L2|cache|register|SM|LTC)\b")
_SRAM_XID = 172


def is_about_pages(event: KernelEvent, gpu: GpuSample | None) -> bool:
    """Whether a line tells of a retired page (before Ampere), not of a row that is replaced.

    Where NVML tells the code alone, a GPU that has retired pages to tell of retires them.
    """
    if not event.detail and gpu is not None:
        return gpu.retired_pages_pending is not None
    return _PAGES.search(event.detail) is not None


def is_on_chip(event: KernelEvent) -> bool:
    """Whether the line places the error in a memory of the chip itself."""
    if event.code == _SRAM_XID:
        return True
    return "framebuffer" not in event.detail and _ON_CHIP.search(event.detail) is not None


def xids_on(
    gpu: GpuSample, past: History, codes: Collection[int], now_s: float
) -> list[KernelEvent]:
    """The Xids of some codes on a GPU within a day, oldest first: what nothing has taken back.

    A reset takes them back, and the driver's word that it asks for nothing any more.
    """
    found = past.xids_on(gpu, codes)
    if not found:
        return found
    since_s = max(past.counters.reset_s(gpu) or 0.0, now_s - TOLD_FOR_S)
    for event in past.xids_on(gpu, (RECOVERY_ACTION_CHANGED,)):
        if said_in(event) is Action.IGNORE:
            since_s = max(since_s, event.time_s)
    return [event for event in found if event.time_s > since_s]


def rows_told(gpu: GpuSample, past: History, code: int, now_s: float) -> list[KernelEvent]:
    """Xids 63 or 64 that tell of a row."""
    return [one for one in xids_on(gpu, past, (code,), now_s) if not is_about_pages(one, gpu)]


def pages_told(gpu: GpuSample, past: History, now_s: float) -> list[KernelEvent]:
    """Xids 63 and 64 that tell of a page."""
    codes = (REMAP_XID, REMAP_FAILURE_XID)
    return [one for one in xids_on(gpu, past, codes, now_s) if is_about_pages(one, gpu)]


def over(
    gpu: GpuSample, past: History, field: str, told: Sequence[KernelEvent], now_s: float
) -> Iterator[Over | LookAgain]:
    """What follows from a flag that is off: what it stood for is over.

    What the log told just now may not be in the readings yet, unless they have shown it already.
    """
    if getattr(gpu, field) is not False:
        return
    since_s = told[-1].time_s if told else 0.0
    if now_s - since_s > _READ_WITHIN_S or (past.counters.fell_s(gpu, field) or -1.0) >= since_s:
        yield Over(Subject.of_gpu(gpu))
    else:
        yield LookAgain(since_s + _READ_WITHIN_S + 1.0)
