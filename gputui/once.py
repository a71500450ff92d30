"""``--once``: one reading, and what it means.

Rates need two samples, so two are taken; more, where it takes longer until everything was read
once that is read between samples: links and errors tell of health as well. If something looks wrong
that only a further one or two can confirm (clocks lowered by heat, a fabric that is not ready),
those are taken too. If a call hangs, there is time for another sampler to read the GPUs that do
answer.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable

from gputui.exit_codes import BAD_USAGE, HEALTHY, UNHEALTHY, UNREADABLE
from gputui.model import GpuState, Severity, Snapshot
from gputui.monitor import Monitor
from gputui.sources.completeness import is_complete
from gputui.streams import complain, writing

_SAMPLES = 2
_MOST_SAMPLES = 4
"""As many complete ones confirm what one makes a rule suspect."""

_MOST_INCOMPLETE = 10
"""Beyond so many nobody waits for what is not read yet: a driver may be slow."""

_SILENT_S = 8.0
"""Longer than a hang takes to be noticed, and another sampler to start and to hang as well."""

_WAIT_S = 60.0


class _Reading:
    """Collects snapshots until they say enough."""

    def __init__(self, monitor: Monitor) -> None:
        self.snapshot: Snapshot | None = None
        self.enough = threading.Event()
        self._monitor = monitor
        self._stamps: set[float] = set()
        self._whole: set[float] = set()

    def __call__(self, snapshot: Snapshot) -> None:
        if self.enough.is_set():
            return
        self.snapshot = snapshot
        if not snapshot.silent_s:
            self._stamps.add(snapshot.sample.time_s)
        if not self._monitor.finite and self._says_enough(snapshot):
            self.enough.set()
            self._monitor.ended.set()

    def _says_enough(self, snapshot: Snapshot) -> bool:
        if snapshot.silent_s:
            return snapshot.silent_s >= _SILENT_S
        if snapshot.sample.error is not None:
            return True
        if not is_complete(snapshot.sample) and len(self._stamps) < _MOST_INCOMPLETE:
            return False
        self._whole.add(snapshot.sample.time_s)
        if self._monitor.undecided and len(self._whole) < _MOST_SAMPLES:
            return False
        return len(self._stamps) >= _SAMPLES


def run_once(monitor: Monitor, write: Callable[[Snapshot], str]) -> int:
    """Print one reading; return the exit code."""
    reading = _Reading(monitor)
    try:
        monitor.start(reading)
        monitor.ended.wait(_WAIT_S)
    finally:
        monitor.stop()
    snapshot = reading.snapshot
    if snapshot is None:
        complain("the source ended without a reading")
        return UNREADABLE
    sample = snapshot.sample
    missing = sorted(set(monitor.options.gpus) - {gpu.index for gpu in sample.gpus})
    if missing and sample.gpu_count:
        there = f"this node has GPUs 0 to {sample.gpu_count - 1}"
        complain(f"no GPU {missing[0]}: {there}")
        return BAD_USAGE
    with writing():
        sys.stdout.write(write(snapshot))
    if sample.error is not None:
        complain(sample.error)
    if sample.error is not None and not snapshot.silent_s:
        print("To see gputui on a fake node: gputui --demo", file=sys.stderr)
    return exit_code(snapshot)


def exit_code(snapshot: Snapshot) -> int:
    """0 healthy, 1 incidents of warning or worse, 2 could not read."""
    states = {status.state for status in snapshot.statuses}
    if snapshot.sample.error is not None or snapshot.silent_s or GpuState.STALE in states:
        return UNREADABLE
    if any(incident.severity >= Severity.WARNING for incident in snapshot.incidents):
        return UNHEALTHY
    return HEALTHY
