"""A GPU that the driver says has fallen off the bus."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.advice import ACTION_TEXTS
from gputui.incidents.history import History
from gputui.incidents.losses import FELL_OFF_THE_BUS
from gputui.incidents.offline import subject_of
from gputui.incidents.rule import CRITICAL, Finding, after, lines, log_rule, xids
from gputui.logs.kernel import KernelEvent
from gputui.model import Action


@log_rule(
    kind="GpuLost",
    severity=CRITICAL,
    clears=after(hours=24),
    hears=lines("gpu_lost") | xids(FELL_OFF_THE_BUS),
)
def gpu_lost(event: KernelEvent, past: History) -> Iterator[Finding]:
    """Xid 79, or the same in words without any Xid: no reset reaches it."""
    yield Finding(
        subject_of(event, past),
        cause="bus",
        cause_text="Xid 79: fell off the bus" if event.code else "fell off the bus",
        action=Action.POWER_CYCLE,
        action_text=ACTION_TEXTS[Action.POWER_CYCLE],
        evidence=(event.text,),
        under=("GpuThermalShutdown",),
    )
