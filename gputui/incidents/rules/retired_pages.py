"""Pages of memory taken out of use, as GPUs before Ampere do with bad ones."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents import evidence
from gputui.incidents.history import History
from gputui.incidents.memory_errors import (
    REMAP_FAILURE_XID,
    REMAP_XID,
    is_about_pages,
    over,
    pages_told,
)
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
_XIDS = (REMAP_XID, REMAP_FAILURE_XID)
_UNTIL_RELOAD = after(hours=24)

_MOST_PAGES = 63
"""DCGM fails a GPU with so many pages in all; the board's list takes one more."""

_MOST_DOUBLE_BIT = 15
"""DCGM fails a GPU with more pages than this by double-bit errors and a new one within a week."""

_MANY_PAGES = 10
"""From here on gcm, which watches fleets of GPUs at Meta, takes note."""


@log_rule(kind="RetiredPages", severity=WARNING, clears=_UNTIL_RELOAD, hears=xids(*_XIDS))
def retired_pages_told(event: KernelEvent, past: History) -> Iterator[Finding]:
    """Xid 63 and 64 with the words of dynamic page retirement."""
    if event.bus_id is None:
        return
    gpu = past.gpu_at(event.bus_id)
    if not is_about_pages(event, gpu):
        return
    subject = Subject.of_gpu(gpu) if gpu else Subject.of_bus(event.bus_id)
    if event.code == REMAP_XID:
        text = "a page waits to be retired"
        yield _finding(subject, WARNING, Action.RELOAD_DRIVER, text, (event.text,))
    elif event.code == REMAP_FAILURE_XID:
        text = "a page could not be retired"
        yield _finding(subject, CRITICAL, Action.REPLACE_GPU, text, (event.text,))


@rule(kind="RetiredPages", severity=WARNING, holds=samples(1), clears=_UNTIL_RELOAD)
def retired_pages(now: NodeSample, past: History) -> Iterator[Noticed]:
    """Too many pages: have it replaced. Pages that wait: load the driver anew."""
    for gpu in now.gpus:
        subject = Subject.of_gpu(gpu)
        known = past.counters.last(gpu) or gpu
        told = pages_told(gpu, past, now.time_s)
        found = _judged(known, past, failed=any(one.code == REMAP_FAILURE_XID for one in told))
        if found is not None:
            severity, action, text = found
            pages = f"single bit {_or_none(known.retired_pages_single_bit)}, double bit "
            pages += _or_none(known.retired_pages_double_bit)
            pieces = (*evidence.told(told, now.time_s), f"retired pages: {pages}")
            yield _finding(subject, severity, action, text, pieces)
        else:
            yield from over(gpu, past, "retired_pages_pending", told, now.time_s)


def _judged(gpu: GpuSample, past: History, *, failed: bool) -> tuple[Severity, Action, str] | None:
    double = gpu.retired_pages_double_bit or 0
    total = double + (gpu.retired_pages_single_bit or 0)
    if failed or total >= _MOST_PAGES:
        return CRITICAL, Action.REPLACE_GPU, f"{total} pages retired, the most is {_MOST_PAGES + 1}"
    if double > _MOST_DOUBLE_BIT and past.counters.growth(gpu, "retired_pages_double_bit"):
        return CRITICAL, Action.REPLACE_GPU, f"{double} pages retired by double-bit errors"
    if gpu.retired_pages_pending:
        return WARNING, Action.RELOAD_DRIVER, "pages wait to be retired"
    if total >= _MANY_PAGES:
        return INFO, Action.IGNORE, f"{total} pages retired"
    return None


def _or_none(count: int | None) -> str:
    return "not told" if count is None else str(count)


def _finding(
    subject: Subject, severity: Severity, action: Action, text: str, pieces: tuple[str, ...]
) -> Finding:
    return Finding(
        subject,
        cause="dram",
        cause_text=text,
        action=action,
        action_text="nothing yet; keep an eye on it"
        if severity is INFO
        else steps(action, subject),
        evidence=pieces,
        under=_UNDER,
        severity=severity,
    )
