"""One sampler process, seen from its parent: what it says, whom it asks, and how it ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time

from gputui.recording import Record, SampleRecord
from gputui.silence import patience_s
from gputui.sources.progress import Asking, Progress
from gputui.sources.source import RecordStream
from gputui.sources.spawn import Spawned, spawn

_START_S = 5.0
"""How long a process may take to start, on a machine that is busy."""


class SamplerProcess:
    """A child that asks the driver. ``skip`` are the GPUs that it leaves alone.

    ``in_time`` counts the samples that came one after the other without a pause too long.
    """

    def __init__(
        self,
        interval_s: float,
        skip: frozenset[int] = frozenset(),
        spawned: Spawned | None = None,
    ) -> None:
        self.skip = skip
        self.in_time = 0
        self._patience_s = patience_s(interval_s)
        self._interval_s = interval_s
        self._heard_s: float | None = None
        self._let_go = False
        self._launched_s = time.monotonic()
        self._stream = RecordStream("sampler")
        spawned = spawned or spawn(interval_s, skip)
        self._child = spawned.child
        self._progress = Progress(spawned.mark)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    @property
    def descriptor(self) -> int:
        """Its output."""
        if self._child.stdout is None:
            raise RuntimeError("a sampler without a pipe")
        return self._child.stdout.fileno()

    @property
    def asking(self) -> Asking | None:
        """Whom it is asking just now."""
        return None if self._let_go else self._progress.asking

    @property
    def has_spoken(self) -> bool:
        """Whether a sample ever came."""
        return self._heard_s is not None

    @property
    def ended(self) -> bool:
        """Whether it has closed its output, which is its end, or was killed."""
        return self._let_go or self._stream.ended

    def hang(self, monotonic_s: float) -> Asking | None:
        """The call that has not returned for too long; None where there is none."""
        asking = self.asking
        if asking is None or monotonic_s - asking.since_s < self._patience_s:
            return None
        return asking

    def is_idle(self, monotonic_s: float) -> bool:
        """Whether it asks nobody and says nothing: stopped, or not getting to run."""
        if self.asking is not None:
            return False
        if self._heard_s is None:
            return monotonic_s - self._launched_s >= self._patience_s + _START_S
        return monotonic_s - self._heard_s >= self._patience_s + self._interval_s

    def due_s(self, monotonic_s: float) -> float:
        """In how many seconds it may have become stuck."""
        asking = self.asking
        since_s = self._launched_s if self._heard_s is None else self._heard_s
        if asking is not None:
            since_s = asking.since_s
        return max(since_s + self._patience_s - monotonic_s, 0.1)

    def read(self, monotonic_s: float) -> list[Record]:
        """Return what has come. Never blocks."""
        if self.ended:
            return []
        records = self._stream.read(self.descriptor)
        for record in records:
            if isinstance(record, SampleRecord):
                late_s = self._patience_s + self._interval_s
                if self._heard_s is not None and monotonic_s - self._heard_s >= late_s:
                    self.in_time = 0
                self.in_time += 1
                self._heard_s = monotonic_s
        return records

    def poke(self) -> None:
        """Ask for a sample now."""
        if self._child.stdin is not None:
            with contextlib.suppress(OSError):
                os.write(self._child.stdin.fileno(), b"\n")

    def kill(self) -> None:
        """End it, without waiting: a process that is stuck in the driver cannot be ended."""
        if self._let_go:
            return
        self._let_go = True
        with contextlib.suppress(OSError):
            self._child.kill()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._progress.close()

    def reap(self, timeout_s: float) -> int | None:
        """Its exit status, negative for a signal's; None if it has not ended in time."""
        try:
            return self._child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None


def how_it_ended(status: int | None) -> str:
    """An exit status in words."""
    if status is not None and status < 0:
        try:
            return f"was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"was ended by signal {-status}"
    return f"ended with status {status}"
