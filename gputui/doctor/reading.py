"""One complete reading of this node's GPUs, by way of the sampler's process."""

from __future__ import annotations

import threading

from gputui.errors import SourceError
from gputui.model import NodeSample, Snapshot
from gputui.monitor import Monitor
from gputui.sources.reasons import NOT_MEASURED_YET

_MOST_S = 20.0


class _Complete:
    """Waits for a snapshot in which every GPU that answers has told everything."""

    def __init__(self, monitor: Monitor) -> None:
        self.snapshot: Snapshot | None = None
        self._monitor = monitor
        self._enough = threading.Event()

    def __call__(self, snapshot: Snapshot) -> None:
        if self._enough.is_set():
            return
        self.snapshot = snapshot
        if snapshot.silent_s or snapshot.sample.error or _is_complete(snapshot.sample):
            self._enough.set()
            self._monitor.ended.set()


def _is_complete(sample: NodeSample) -> bool:
    return bool(sample.gpus) and not any(
        NOT_MEASURED_YET in gpu.missing.values() for gpu in sample.gpus if not gpu.return_code
    )


def complete_reading(monitor: Monitor) -> tuple[Snapshot | None, str]:
    """A reading in which nothing is still to come, and why there is none, or less than all."""
    reading = _Complete(monitor)
    try:
        monitor.start(reading)
        monitor.ended.wait(_MOST_S)
    except SourceError as error:
        return None, str(error)
    finally:
        monitor.stop()
    snapshot = reading.snapshot
    if snapshot is None:
        return None, "no reading came"
    return snapshot, snapshot.sample.error or ""
