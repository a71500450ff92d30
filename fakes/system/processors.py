"""What a node's processors have done: the time that they were busy since the boot.

A process of a job keeps :data:`PROCESSORS_PER_PROCESS` of them busy for as long as it lives: its
own threads and those of its data loaders. The system itself takes a little.
"""

from __future__ import annotations

from collections.abc import Iterable

from fakes.jobs.process import Process

PROCESSORS_PER_PROCESS = 4.0
SYSTEM_PROCESSORS = 0.4


class Processors:
    """Counts the time of processes that have ended since the boot; the living are asked."""

    __slots__ = ("_boot", "_ended_us")

    def __init__(self) -> None:
        self._boot = 0
        self._ended_us = 0

    def ended(self, process: Process, boot: int, at_us: int) -> None:
        """A process of this boot has ended."""
        if boot != self._boot:
            self._boot, self._ended_us = boot, 0
        self._ended_us += max(at_us - process.started_us, 0)

    def user_s(self, living: Iterable[Process], boot: int, at_us: int) -> float:
        """Seconds of all processors together that processes of jobs have used since the boot."""
        ended_us = self._ended_us if boot == self._boot else 0
        alive_us = sum(max(at_us - process.started_us, 0) for process in living)
        return PROCESSORS_PER_PROCESS * (ended_us + alive_us) / 1e6
