"""An NVSwitch's error in the kernel log, or in the fabric manager's: an SXid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gputui.incidents.advice import ACTION_TEXTS, HELD_BY
from gputui.incidents.history import History
from gputui.incidents.nvlink_findings import PEER_LOST, TOGETHER_S
from gputui.incidents.rule import (
    ANYBODY,
    CRITICAL,
    INFO,
    WARNING,
    Cause,
    Finding,
    Subject,
    after,
    lines,
    log_rule,
)
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, Severity

if TYPE_CHECKING:
    from gputui.facts.sxid import SxidFact

_QUIET = after(minutes=10)
_GRAVE_QUIET = after(hours=24)
_SAME_TROUBLE_S = 600.0
_UNDER_OF_LINK = (
    "FabricNotReady",
    Cause("NvlinkDown", on=ANYBODY, within_s=TOGETHER_S, anew=True),
    PEER_LOST,
)
"""A link that is down by then, or has lost its GPU, is what the SXid of its port tells of."""

_WORD = re.compile(r"\b(?P<word>non-?fatal|fatal|correctable)\b", re.I)
_LINK = re.compile(r"\b(?:link|port) (?P<link>\d+)", re.I)
_KINDS = ("sxid", "fm_sxid")

_RESET_ALL = (
    f"drain, stop {HELD_BY}; restart the fabric manager and reset all GPUs "
    "(systemctl restart nvidia-fabricmanager; nvidia-smi -r), or reboot"
)


@log_rule(kind="NvswitchError", severity=WARNING, clears=_QUIET, hears=lines(*_KINDS))
def nvswitch_error(event: KernelEvent, past: History) -> Iterator[Finding]:
    """Each switch has one incident, as bad as the worst of its last errors.

    The driver's word in the line (Fatal, Non-fatal, Correctable) outranks the class that vendors
    give to the code; of a non-fatal one the class tells a warning from what is to be ignored.
    """
    if event.code is None or event.bus_id is None:
        return
    lately = [
        other
        for other in past.events(*_KINDS)
        if other.bus_id == event.bus_id and abs(event.time_s - other.time_s) <= _SAME_TROUBLE_S
    ]
    worst = max(lately or [event], key=lambda one: (severity_told(one), one is event, one.time_s))
    severity, fact = severity_told(worst), _fact(worst)
    action, advice = advice_on(severity, fact)
    yield Finding(
        Subject.of_node(past.samples[-1].host if past.samples else event.host or ""),
        key=event.bus_id,
        cause="link" if fact.cause == "link" else "configuration" if _is_config(fact) else "switch",
        cause_text=_text(worst, fact),
        action=action,
        action_text=advice,
        evidence=(event.text,),
        severity=severity,
        under=_UNDER_OF_LINK if _LINK.search(worst.text) else ("FabricNotReady",),
        clears=_GRAVE_QUIET if severity is CRITICAL else _QUIET,
    )


def severity_told(event: KernelEvent) -> Severity:
    """How bad an SXid is: by the driver's word in its line, else by its code."""
    by_code = _fact(event).severity
    said = _WORD.search(event.text)
    if said is None:
        return by_code
    word = said["word"].lower()
    if word == "fatal":
        return CRITICAL
    return INFO if word == "correctable" else min(by_code, WARNING)


def _fact(event: KernelEvent) -> SxidFact:
    from gputui.facts.sxid import sxid_fact  # most logs have none

    return sxid_fact(event.code or 0)


def _is_config(fact: SxidFact) -> bool:
    return fact.cause == "configuration"


def advice_on(severity: Severity, fact: SxidFact) -> tuple[Action, str]:
    """What to do about an SXid that is so bad."""
    if severity is INFO:
        return Action.IGNORE, ACTION_TEXTS[Action.IGNORE]
    if severity is CRITICAL and fact.action in (Action.IGNORE, Action.DRAIN_AND_RESET):
        return Action.DRAIN_AND_RESET, _RESET_ALL
    if fact.action is Action.RESET_GPU:
        return (
            Action.RESET_GPU,
            f"stop all GPU processes and {HELD_BY}, reset the GPUs of that link (nvidia-smi -r)",
        )
    return fact.action, ACTION_TEXTS[fact.action]


def _text(event: KernelEvent, fact: SxidFact) -> str:
    link = _LINK.search(event.text)
    where = f", link {int(link['link'])}" if link else ""
    return f"SXid {event.code} on switch {event.bus_id}{where}: {fact.meaning}"
