"""What the driver refuses because a GPU has to be reset first, in its own asserted words."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.advice import ACTION_TEXTS
from gputui.incidents.history import History
from gputui.incidents.host_words import node_of
from gputui.incidents.rule import ANYBODY, CRITICAL, Cause, Finding, after, lines, log_rule
from gputui.logs.kernel import KernelEvent
from gputui.model import Action


@log_rule(
    kind="GpuResetRequired",
    severity=CRITICAL,
    clears=after(minutes=10),
    hears=lines("reset_required"),
)
def reset_refused(event: KernelEvent, past: History) -> Iterator[Finding]:
    """Its lines do not say which GPU it is: where one is known to be broken, they hang under that.

    The words are those of NV_ERR_RESET_REQUIRED in failed checks (open-gpu-kernel-modules,
    nvstatuscodes.h).
    """
    kinds = ("GpuLost", "GpuResetRequired", "EccUncorrectable", "GpuHung", "GpuXid")
    yield Finding(
        node_of(event, past),
        cause="driver",
        cause_text="the driver refuses work on a GPU before that is reset",
        action=Action.RESET_GPU,
        action_text="find it (nvidia-smi -q | grep -i -A1 recovery), "
        + ACTION_TEXTS[Action.RESET_GPU],
        evidence=(event.text,),
        under=tuple(Cause(kind, on=ANYBODY, at_least=CRITICAL) for kind in kinds),
    )
