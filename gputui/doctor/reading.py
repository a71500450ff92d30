"""One complete reading of this node's GPUs, by way of the sampler's process."""

from __future__ import annotations

import threading

from gputui.config import load_config
from gputui.doctor.site import Site
from gputui.errors import SourceError
from gputui.model import Snapshot
from gputui.monitor import Monitor, MonitorOptions
from gputui.sources.completeness import is_complete
from gputui.sources.files import system_root

_MOST_S = 20.0
_INTERVAL_S = 0.5
_MOST_SAMPLES = 4
"""As many complete ones confirm what one makes a rule suspect."""

_SILENT_S = 8.0
"""Longer than a hang takes to be noticed, and another sampler to read the GPUs that do answer."""


class _Complete:
    """Waits for a snapshot in which every GPU that answers has told everything."""

    def __init__(self, monitor: Monitor) -> None:
        self.snapshot: Snapshot | None = None
        self._monitor = monitor
        self._enough = threading.Event()
        self._stamps: set[float] = set()

    def __call__(self, snapshot: Snapshot) -> None:
        if self._enough.is_set():
            return
        self.snapshot = snapshot
        if self._says_enough(snapshot):
            self._enough.set()
            self._monitor.ended.set()

    def _says_enough(self, snapshot: Snapshot) -> bool:
        if snapshot.silent_s:
            return snapshot.silent_s >= _SILENT_S
        sample = snapshot.sample
        if sample.error is None and not (sample.gpus and is_complete(sample)):
            return False
        self._stamps.add(snapshot.sample.time_s)
        return not self._monitor.undecided or len(self._stamps) >= _MOST_SAMPLES


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


def local_site(*, nodes: tuple[str, ...] = (), supply_w: float | None = None) -> Site:
    """The machine it runs on, read now, with the settings of its site and its user."""
    config = load_config()
    options = MonitorOptions(
        interval_s=_INTERVAL_S,
        kernel_log=config.kernel_log,
        expected_gpus=config.expected_gpus,
        rules_off=config.rules_off,
        thresholds=config.thresholds,
    )
    snapshot, unread = complete_reading(Monitor(options))
    return Site(snapshot, unread, system_root(), config, nodes=nodes, supply_w=supply_w)
