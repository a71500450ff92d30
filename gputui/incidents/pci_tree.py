"""Which GPU a PCI address concerns: its own, or that of a bridge above it."""

from __future__ import annotations

from gputui.incidents.history import History
from gputui.incidents.rule import Subject
from gputui.logs.kernel import KernelEvent
from gputui.model import GpuSample

_OWN_DRIVER = "nvidia"


def gpus_below(past: History, bus_id: str) -> list[GpuSample]:
    """The GPUs at an address or below it, as last read."""
    if not past.samples:
        return []
    now = past.samples[-1]
    below = {one.bus_id for one in now.on_bus or () if bus_id in one.above}
    return [gpu for gpu in now.gpus if gpu.bus_id == bus_id or gpu.bus_id in below]


def concerned(past: History, event: KernelEvent) -> list[tuple[Subject, GpuSample | None]]:
    """Whom an event of the PCI bus concerns; nobody, where it is another device's.

    A line that the GPU's own driver is named in is a GPU's, whether or not it is known.
    """
    if event.bus_id is None:
        return []
    gpus = gpus_below(past, event.bus_id)
    if gpus:
        return [(Subject.of_gpu(gpu), gpu) for gpu in gpus]
    if event.text.startswith(_OWN_DRIVER):
        return [(Subject.of_bus(event.bus_id), None)]
    return []
