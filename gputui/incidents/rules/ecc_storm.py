"""Errors that ECC corrects, and so many of them that they say something."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.memory_errors import STORM_XID
from gputui.incidents.rule import (
    WARNING,
    Finding,
    LookAgain,
    Noticed,
    Subject,
    after,
    log_rule,
    rule,
    samples,
    xids,
)
from gputui.logs.kernel import KernelEvent
from gputui.model import Action, NodeSample

_UNDER = ("GpuLost", "EccUncorrectable", "RowRemapFailure", "RowRemapPending")
_QUIET = after(minutes=10)


@log_rule(kind="EccStorm", severity=WARNING, clears=_QUIET, hears=xids(STORM_XID))
def ecc_storm_told(event: KernelEvent, past: History) -> Iterator[Finding]:
    """Xid 92: the driver no longer wants to be told of each correction."""
    if event.bus_id is None:
        return
    gpu = past.gpu_at(event.bus_id)
    subject = Subject.of_gpu(gpu) if gpu else Subject.of_bus(event.bus_id)
    yield _finding(subject, "too many corrections for the driver to be told", event.text)


@rule(kind="EccStorm", severity=WARNING, holds=samples(2), clears=_QUIET)
def ecc_storm(now: NodeSample, past: History) -> Iterator[Noticed]:
    """The counter of corrected errors grows faster than the threshold, over the last readings.

    No vendor publishes a rate; healthy memory corrects a few errors a day. The right one (600 a
    minute) is well below where the driver gives up, and a site may set its own.
    """
    for gpu in now.gpus:
        rate = 60 * past.counters.per_s(gpu, "ecc_corrected_volatile", now.time_s)
        if rate >= past.thresholds.ecc_corrected_per_minute:
            text = f"{rate:.0f} errors a minute are corrected"
            reading = f"corrected ECC errors: {gpu.ecc_corrected_volatile}, {rate:.0f} a minute"
            yield _finding(Subject.of_gpu(gpu), text, reading)
            stopped_s = past.counters.stopped_s(gpu, "ecc_corrected_volatile")
            yield LookAgain((stopped_s or now.time_s) + 1.0)


def _finding(subject: Subject, text: str, piece: str) -> Finding:
    which = "" if subject.gpu is None else f" -i {subject.gpu}"
    return Finding(
        subject,
        cause="dram",
        cause_text=text,
        action=Action.DRAIN_AND_RESET,
        action_text=f"at the next drain: dcgmi diag -r 3{which}, then reset",
        evidence=(piece,),
        under=_UNDER,
    )
