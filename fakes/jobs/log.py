"""What a node's jobs print: their standard output and error, line by line."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from fakes.jobs.process import Process

_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class JobLine:
    """A line that a job printed. ``process`` is the rank that did, None for its launcher."""

    at_us: int
    job: str
    text: str
    process: Process | None = None


Listener = Callable[[JobLine], None]


class JobLog:
    """The lines of all jobs of a node, the newest of them kept, and whoever listens.

    ``dying`` are the PIDs of processes that have said their last word.
    """

    def __init__(self) -> None:
        self.dying: set[int] = set()
        self.lines: deque[JobLine] = deque(maxlen=_KEPT)
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        """Call ``listener`` with every line from now on."""
        self._listeners.append(listener)

    def unlisten(self, listener: Listener) -> None:
        """Call ``listener`` no more."""
        self._listeners.remove(listener)

    def write(self, at_us: int, job: str, text: str, process: Process | None = None) -> None:
        """Add a line."""
        line = JobLine(at_us, job, text, process)
        self.lines.append(line)
        for listener in self._listeners:
            listener(line)


class JobLogFiles:
    """A view of a node's job logs: a file for each job. ``path_of`` says which it is."""

    def __init__(self, path_of: Callable[[str], Path]) -> None:
        self._path_of = path_of
        self._files: dict[str, TextIO] = {}

    def __call__(self, line: JobLine) -> None:
        """Write one line, at once."""
        file = self._files.get(line.job)
        if file is None:
            file = self._files[line.job] = self._path_of(line.job).open("a", encoding="utf-8")
        file.write(f"{line.text}\n")
        file.flush()

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
