"""Errors on a GPU's PCIe link: packets sent again, and what the kernel prints of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gputui.incidents.advice import of_board
from gputui.incidents.history import History
from gputui.incidents.pci_tree import concerned
from gputui.incidents.rule import (
    CRITICAL,
    INFO,
    WARNING,
    Finding,
    LookAgain,
    Subject,
    after,
    lines,
    rule,
    samples,
)
from gputui.incidents.window import MINUTE_S, grown
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, GpuSample, NodeSample, Severity

MOST_A_MINUTE = 8
"""Replays in a minute that are still normal (source: DCGM, DCGM_LIMIT_MAX_PCIREPLAY_RATE, "the
maximum recommended by RM"); of corrected errors the same number is taken."""

UNRECOVERED = "aer_unrecovered"
_TOGETHER_S = 5.0

_RECORD = re.compile(r"PCIe Bus Error: severity=(?P<severity>[^,]+)", re.I)


def _told(event: KernelEvent, past: History) -> Iterator[Finding]:
    """What the kernel says of errors (AER), and of ports that cut off what is below (DPC).

    A record of AER has several lines, of which the one with the severity counts. A corrected error
    is information, too many a minute are a warning; what could not be corrected is one, too, and
    what is fatal, or contained, cost the GPU its link.
    """
    if event.kind == UNRECOVERED:
        severity, text = _unrecovered(event, past)
        for subject, gpu in concerned(past, event):
            yield _finding(subject, gpu, text, severity, event.text)
        return
    record = _RECORD.search(event.detail)
    if event.kind == "aer" and record is None:
        return
    for subject, gpu in concerned(past, event):
        severity, text = _judged(event, record["severity"] if record else None, past)
        yield _finding(subject, gpu, text, severity, event.text)


@rule(
    kind="PcieErrors",
    severity=WARNING,
    holds=samples(3),
    clears=after(minutes=10),
    on_log=_told,
    hears=lines("aer", "dpc", UNRECOVERED),
)
def pcie_errors(now: NodeSample, past: History) -> Iterator[Finding | LookAgain]:
    """More packets had to be sent again within a minute than a sound link needs.

    What the counter stood at when it was first read says nothing.
    """
    for gpu in now.gpus:
        replays = grown(past, gpu, _replays)
        if replays is None or replays.by <= MOST_A_MINUTE:
            continue
        yield LookAgain(replays.forgotten_s)
        yield _finding(
            Subject.of_gpu(gpu),
            gpu,
            f"{replays.by} PCIe replays within a minute",
            WARNING,
            f"PCIe replay counter {gpu.pcie_replays}, {replays.by} of it within a minute",
        )


def _replays(gpu: GpuSample) -> int | None:
    return gpu.pcie_replays


def _judged(event: KernelEvent, said: str | None, past: History) -> tuple[Severity, str]:
    if said is None:
        return CRITICAL, "its port cut it off (DPC containment)"
    if "non-fatal" in said.lower() or said.lower() == "uncorrected":
        return WARNING, "uncorrectable PCIe error (AER, non-fatal)"
    if "fatal" in said.lower():
        return CRITICAL, "fatal PCIe error (AER)"
    recent = sum(
        other.bus_id == event.bus_id
        and _RECORD.search(other.detail) is not None
        and 0 <= event.time_s - other.time_s <= MINUTE_S
        for other in past.events("aer")
    )
    if recent > MOST_A_MINUTE:
        return WARNING, f"{recent} corrected PCIe errors within a minute (AER)"
    return INFO, "corrected PCIe error (AER)"


def _unrecovered(event: KernelEvent, past: History) -> tuple[Severity, str]:
    """An error that a port above told of just before, and that this GPU's driver does not mend."""
    severities = [
        record["severity"].lower()
        for other in past.events("aer")
        if abs(event.time_s - other.time_s) <= _TOGETHER_S
        and (record := _RECORD.search(other.detail)) is not None
    ]
    if any("fatal" in one and "non-fatal" not in one for one in severities):
        return CRITICAL, "fatal PCIe error above it (AER), from which its driver cannot recover"
    return WARNING, "uncorrectable PCIe error (AER), from which its driver cannot recover"


def _finding(
    subject: Subject, gpu: GpuSample | None, text: str, severity: Severity, evidence: str
) -> Finding:
    where = (gpu.bus_id if gpu else None) or "ADDRESS"
    return Finding(
        subject,
        cause="link",
        cause_text=text,
        action=Action.IGNORE if severity is INFO else Action.CHECK_LINK,
        action_text="nothing to do while they are rare"
        if severity is INFO
        else f"look at the link (lspci -vv -s {where}; dmesg | grep AER), then drain and reseat "
        f"the board, its riser or cable{of_board(gpu)}",
        evidence=(evidence,),
        severity=severity,
        under=("GpuLost",),
    )
