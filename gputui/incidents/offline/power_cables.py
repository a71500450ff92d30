"""A board without its power cables: some drivers say so in words instead of Xid 54."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.facts.xid import xid_fact
from gputui.incidents.advice import ACTION_TEXTS
from gputui.incidents.history import History
from gputui.incidents.offline import subject_of
from gputui.incidents.rule import CRITICAL, Finding, after, lines, log_rule
from gputui.logs.kernel import KernelEvent


@log_rule(kind="GpuXid", severity=CRITICAL, clears=after(hours=24), hears=lines("power_cables"))
def power_cables(event: KernelEvent, past: History) -> Iterator[Finding]:
    """It is told as the Xid that it stands for."""
    if event.code is None:
        return
    fact = xid_fact(event.code)
    yield Finding(
        subject_of(event, past),
        key=str(event.code),
        cause="hardware",
        cause_text=f"Xid {event.code}, in words: the power cables are not connected",
        action=fact.action,
        action_text=ACTION_TEXTS[fact.action],
        severity=fact.severity,
        evidence=(event.text,),
    )
