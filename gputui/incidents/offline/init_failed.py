"""A driver that did not come up on a GPU."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.offline import subject_of
from gputui.incidents.rule import CRITICAL, Cause, Finding, after, log_rule
from gputui.logs.kernel import KernelEvent
from gputui.model import Action

_WITHIN_S = 60.0


@log_rule(kind="DriverNotLoaded", severity=CRITICAL, clears=after(hours=24))
def init_failed(event: KernelEvent, past: History) -> Iterator[Finding]:
    """RmInitAdapter or the probe failed: the module is there, the GPU is not usable.

    Of a GPU that is off the bus, or without its power cable, this is no more than what follows.
    """
    if event.kind not in ("init_failed", "probe_failed"):
        return
    yield Finding(
        subject_of(event, past),
        cause="configuration",
        cause_text=f"the driver does not come up: {event.detail or event.text}",
        action=Action.RELOAD_DRIVER,
        action_text="reload the driver, or reboot; if it comes back, reseat the board "
        "(dmesg | grep NVRM says more)",
        evidence=(event.text,),
        under=(Cause("GpuLost", within_s=_WITHIN_S), Cause("GpuXid", within_s=_WITHIN_S)),
    )
