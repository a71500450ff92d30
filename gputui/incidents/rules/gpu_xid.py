"""An Xid in the kernel log: each code on each GPU is one incident, however often it comes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from gputui.facts.xid import XidFact, xid_fact
from gputui.incidents.advice import ACTION_TEXTS
from gputui.incidents.history import History
from gputui.incidents.memory_errors import MEMORY_KINDS, MEMORY_XIDS
from gputui.incidents.nvlink_words import NVLINK_ERROR
from gputui.incidents.one_job import Struck, struck_together
from gputui.incidents.rule import (
    CRITICAL,
    WARNING,
    Cause,
    Finding,
    Over,
    Subject,
    after,
    lines,
    log_rule,
)
from gputui.incidents.secondary import causes_of_xid
from gputui.incidents.steps import steps
from gputui.incidents.verdict import RECOVERY_ACTION_CHANGED, said_in, severity_of
from gputui.logs.kernel import KernelEvent
from gputui.model import Action

_UNDER = ("GpuLost", "GpuResetRequired")
_MEMORY_UNDER = (*MEMORY_KINDS, *_UNDER)
_THE_JOBS = ("application", "secondary")
"""Causes for which the same Xid on all GPUs of a job is the job's."""

_QUIET = after(minutes=10)
_GRAVE_QUIET = after(hours=24)
"""What needs a reset stays so until one; without a sign of it, for a day."""

_WAITS_FOR_RESET = re.compile(r"\breset gpu to activate|\bwhen the gpu is reset")
_WAITS_FOR_RELOAD = re.compile(r"\breload the driver to activate")
"""In small letters. Spare memory is in place but not in use yet (Xid 63; Dynamic Page Retirement
before Ampere)."""


@log_rule(kind="GpuXid", severity=WARNING, clears=_QUIET, hears=lines("xid"))
def gpu_xid(event: KernelEvent, past: History) -> Iterator[Finding | Over]:
    """What the driver says in the line outranks what the catalogue says of the code."""
    if event.code is None or event.bus_id is None:
        return
    gpu = past.gpu_at(event.bus_id)
    subject = Subject.of_gpu(gpu) if gpu else Subject.of_bus(event.bus_id)
    fact = xid_fact(event.code)
    said = said_in(event)
    if said is Action.IGNORE and event.code == RECOVERY_ACTION_CHANGED:
        yield Over(subject)
        return
    waits = _waits_for(event)
    action = said or waits or fact.action
    severity = severity_of(action) if said else WARNING if waits else fact.severity
    together = struck_together(event, past) if fact.cause in _THE_JOBS else None
    yield Finding(
        together.job if together else subject,
        key=str(event.code),
        cause=fact.cause,
        cause_text=_cause_text(event, fact, together),
        action=action,
        action_text=_advice(said, action, subject),
        severity=severity,
        evidence=(event.text,),
        under=_under(event, past, together),
        others=together.gpus if together else (),
        covers=together.gpus if together else (),
        clears=_GRAVE_QUIET if severity is CRITICAL or waits else _QUIET,
    )


def _advice(said: Action | None, action: Action, subject: Subject) -> str:
    """What to do; links are checked at the driver's wish only where it means the IMEX domain."""
    return steps(action, subject) if said is Action.CHECK_LINK else ACTION_TEXTS[action]


def _under(event: KernelEvent, past: History, together: Struck | None) -> tuple[str | Cause, ...]:
    """What may have brought it about, on its GPU or on any of those that were struck with it."""
    kinds = _MEMORY_UNDER if event.code in MEMORY_XIDS else _UNDER
    causes_told = causes_of_xid(event, past)
    if together is None:
        return (*kinds, *causes_told)
    causes = (*map(Cause, kinds), *causes_told)
    return tuple(
        Cause(cause.kind, cause.key, name, cause.within_s, cause.at_least, cause.anew)
        for cause in causes
        for name in together.gpus
    )


def _waits_for(event: KernelEvent) -> Action | None:
    """What a repair needs to take effect: nothing is broken now."""
    detail = event.detail.lower()
    if "reset" in detail and _WAITS_FOR_RESET.search(detail):
        return Action.DRAIN_AND_RESET
    is_for_reload = "reload" in detail and _WAITS_FOR_RELOAD.search(detail)
    return Action.RELOAD_DRIVER if is_for_reload else None


def _cause_text(event: KernelEvent, fact: XidFact, together: Struck | None) -> str:
    text = _meaning(event.code, fact.meaning)
    text += _of_registers(event)
    if together is not None:
        text += f" (on all {len(together.gpus)} GPUs of {together.name} at once)"
    elif event.process:
        text += f" ({event.process}, pid {event.pid})"
    return text


@lru_cache(maxsize=256)
def _meaning(code: int | None, meaning: str) -> str:
    """What a code means, within a sentence: abbreviations stay in capitals."""
    if not meaning[:2].isupper():
        meaning = f"{meaning[0].lower()}{meaning[1:]}"
    return f"Xid {code}: {meaning}"


def _of_registers(event: KernelEvent) -> str:
    """What the registers in a line on NVLink say, where somebody explains them."""
    if event.code != NVLINK_ERROR:
        return ""
    from gputui.facts.nvlink74 import decode  # most logs need none of it

    error = decode(event.detail)
    return "".join(f"; {one.text}" for one in error.telling[:1]) if error is not None else ""
