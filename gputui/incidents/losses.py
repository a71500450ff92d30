"""GPUs that the kernel says have fallen off the bus: what is told of a loss, and of whom."""

from __future__ import annotations

from gputui.incidents.history import History
from gputui.logs.kernel import KernelEvent

FELL_OFF_THE_BUS = 79


def is_off_the_bus(event: KernelEvent) -> bool:
    """Whether an event tells of a loss: Xid 79, or the same in words without any Xid."""
    return event.kind == "gpu_lost" or (event.kind == "xid" and event.code == FELL_OFF_THE_BUS)


def lost_at_about(time_s: float, past: History, within_s: float) -> set[str]:
    """The PCI addresses of the GPUs of which a loss was told at about a time."""
    told = (*past.events("gpu_lost"), *past.xids_near((FELL_OFF_THE_BUS,), time_s, within_s))
    near = (event for event in told if abs(event.time_s - time_s) <= within_s)
    return {event.bus_id for event in near if event.bus_id is not None}
