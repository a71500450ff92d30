"""A driver call that does not return: one GPU's, or the whole driver's."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.advice import ACTION_TEXTS
from gputui.incidents.history import History
from gputui.incidents.roster import has_readings
from gputui.incidents.rule import CRITICAL, Finding, Subject, rule, samples
from gputui.incidents.states import DOES_NOT_RETURN
from gputui.model import Action, GpuSample, NodeSample
from gputui.silence import DRIVER, Silence
from gputui.sources.reasons import TIMEOUT

_GSP_TIMEOUTS = frozenset({119, 120})
"""Xids of a GPU whose system processor (GSP) does not answer the driver."""


def _during_silence(silence: Silence, last: NodeSample, past: History) -> Iterator[Finding]:
    """While nobody else answers either, the GPU that was asked first is the suspect."""
    if silence.asked == DRIVER or (silence.whole_driver and not last.gpus):
        whom = "" if silence.gpu is None else f" to GPU {silence.gpu}, nor from any other"
        yield _finding(
            Subject.of_node(last.host),
            cause="driver",
            text=f"the driver does not return from a call{whom}",
            since_s=last.time_s,
        )
    for gpu in last.gpus:
        if gpu.index == silence.asked:
            scope = "; nor does any other to the driver" if silence.whole_driver else ""
            yield _finding(
                Subject.of_gpu(gpu),
                cause=_cause(gpu, past),
                text=DOES_NOT_RETURN + scope,
                since_s=last.time_s,
            )


def _failed(now: NodeSample, past: History) -> Iterator[Finding]:
    """NVML itself says that the driver timed out."""
    if now.error_code == TIMEOUT:
        yield _finding(
            Subject.of_node(now.host),
            cause="driver",
            text="the driver does not return from a call",
            since_s=past.samples[-1].time_s if past.samples else None,
        )


@rule(
    kind="GpuHung",
    severity=CRITICAL,
    holds=samples(1),
    clears=samples(4),
    on_silence=_during_silence,
    on_failure=_failed,
)
def gpu_hung(now: NodeSample, past: History) -> Iterator[Finding]:
    """A GPU is left alone because a call to it has not returned; the others answer.

    Its processes cannot be ended and a reset would wait as well: the node has to be rebooted.
    """
    for gpu in now.gpus:
        if gpu.return_code == TIMEOUT:
            yield _finding(
                Subject.of_gpu(gpu),
                cause=_cause(gpu, past),
                text=DOES_NOT_RETURN,
                since_s=_answered_s(gpu, past),
            )


def _finding(subject: Subject, *, cause: str, text: str, since_s: float | None) -> Finding:
    return Finding(
        subject,
        cause=cause,
        cause_text=text,
        action=Action.REBOOT_NODE,
        action_text=ACTION_TEXTS[Action.REBOOT_NODE],
        evidence=(f"NVML: {text}",),
        since_s=since_s,
        under=("GpuLost",),
    )


def _cause(gpu: GpuSample, past: History) -> str:
    codes = {event.code for event in past.events_on(gpu) if event.kind == "xid"}
    return "firmware" if codes & _GSP_TIMEOUTS else "driver"


def _answered_s(gpu: GpuSample, past: History) -> float | None:
    """When the GPU last had readings."""
    for sample in reversed(past.samples):
        if any(one.index == gpu.index and has_readings(one) for one in sample.gpus):
            return sample.time_s
    return None
