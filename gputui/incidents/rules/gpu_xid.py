"""An Xid in the kernel log: each code on each GPU is one incident, however often it comes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gputui.incidents.advice import ACTION_TEXTS
from gputui.incidents.history import History
from gputui.incidents.rule import CRITICAL, INFO, WARNING, Finding, Over, Subject, after, log_rule
from gputui.incidents.xid_facts import XidFact, xid_fact
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, Severity

RECOVERY_ACTION_CHANGED = 154

_UNDER = ("GpuLost", "GpuResetRequired")
_QUIET = after(minutes=10)
_GRAVE_QUIET = after(hours=24)
"""What needs a reset stays so until one; without a sign of it, for a day."""

_NEW_ACTION = re.compile(r"changed from 0x\w+ \([^)]*\) to 0x\w+ \((?P<name>[^)]*)\)")
_RESET_WORDS = re.compile(r"\bRST: (?P<reset>Yes|No), D-RST: (?P<drain>Yes|No)")

_WAITS_FOR_RESET = re.compile(r"\breset gpu to activate|\bwhen the GPU is reset", re.I)
_WAITS_FOR_RELOAD = re.compile(r"\breload the driver to activate", re.I)
"""Spare memory is in place but not in use yet (Xid 63; Dynamic Page Retirement before Ampere)."""

_RECOVERY = {
    "GPU Reset Required": Action.RESET_GPU,
    "Node Reboot Required": Action.REBOOT_NODE,
    "Drain P2P": Action.DRAIN_AND_RESET,
    "Drain and Reset": Action.DRAIN_AND_RESET,
    "Recover IMEX Domain": Action.CHECK_LINK,
}
"""The driver's names of NVML's recovery actions (nvmlDeviceGetFieldValues, field 230)."""


@log_rule(kind="GpuXid", severity=WARNING, clears=_QUIET)
def gpu_xid(event: KernelEvent, past: History) -> Iterator[Finding | Over]:
    """What the driver says in the line outranks what the catalogue says of the code."""
    if event.kind != "xid" or event.code is None or event.bus_id is None:
        return
    gpu = past.gpu_at(event.bus_id)
    subject = Subject.of_gpu(gpu) if gpu else Subject.of_bus(event.bus_id)
    fact = xid_fact(event.code)
    said = _said_by_driver(event)
    if said is Action.IGNORE and event.code == RECOVERY_ACTION_CHANGED:
        yield Over(subject)
        return
    waits = _waits_for(event)
    action = said or waits or fact.action
    severity = _severity(action) if said else WARNING if waits else fact.severity
    yield Finding(
        subject,
        key=str(event.code),
        cause=fact.cause,
        cause_text=_cause_text(event, fact),
        action=action,
        action_text=ACTION_TEXTS[action],
        severity=severity,
        evidence=(event.text,),
        under=_UNDER,
        clears=_GRAVE_QUIET if severity is CRITICAL or waits else _QUIET,
    )


def _said_by_driver(event: KernelEvent) -> Action | None:
    if event.code == RECOVERY_ACTION_CHANGED:
        changed = _NEW_ACTION.search(event.detail)
        if changed is None:
            return None
        return Action.IGNORE if changed["name"] == "None" else _RECOVERY.get(changed["name"])
    stated = _RESET_WORDS.search(event.detail)
    if stated is None:
        return None
    if stated["reset"] == "Yes":
        return Action.RESET_GPU
    return Action.DRAIN_AND_RESET if stated["drain"] == "Yes" else Action.RESTART_APP


def _waits_for(event: KernelEvent) -> Action | None:
    """What a repair needs to take effect: nothing is broken now."""
    if _WAITS_FOR_RESET.search(event.detail):
        return Action.DRAIN_AND_RESET
    return Action.RELOAD_DRIVER if _WAITS_FOR_RELOAD.search(event.detail) else None


def _severity(action: Action) -> Severity:
    """An ignored Xid is counted only; one that costs the application warns; a reset is grave."""
    if action is Action.IGNORE:
        return INFO
    return WARNING if action is Action.RESTART_APP else CRITICAL


def _cause_text(event: KernelEvent, fact: XidFact) -> str:
    text = f"Xid {event.code}: {fact.meaning[0].lower()}{fact.meaning[1:]}"
    if fact.meaning[:2].isupper():
        text = f"Xid {event.code}: {fact.meaning}"
    if event.process:
        text += f" ({event.process}, pid {event.pid})"
    return text
