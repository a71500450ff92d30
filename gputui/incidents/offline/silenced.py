"""A GPU whose system processor fails so often that the driver stops telling each time."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.advice import ACTION_TEXTS
from gputui.incidents.history import History
from gputui.incidents.offline import subject_of
from gputui.incidents.rule import CRITICAL, Finding, after, lines, log_rule
from gputui.logs.kernel import KernelEvent
from gputui.model import Action


@log_rule(
    kind="GpuResetRequired", severity=CRITICAL, clears=after(hours=24), hears=lines("gsp_ratelimit")
)
def silenced(event: KernelEvent, past: History) -> Iterator[Finding]:
    """The driver itself says that a reset is likely to be needed, and outranks any code."""
    yield Finding(
        subject_of(event, past),
        cause="firmware",
        cause_text="its system processor does not answer; the driver expects to need a reset",
        action=Action.RESET_GPU,
        action_text=ACTION_TEXTS[Action.RESET_GPU],
        evidence=(event.text,),
        under=("GpuLost",),
    )
