"""When what is known of a node is written down: soon after it changed, and at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from gputui.state import NodeState, StateFile

_LEAST_S = 5.0
"""However much happens, the file is written no more often."""

_MOST_S = 600.0
"""Also if nothing happens: when the GPUs were last seen is worth remembering."""


class Notebook:
    """Reads and writes the state file of the node that is watched. ``folder`` None: of none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._file: StateFile | None = None
        self._changed = False
        self._written_s: float | None = None

    @property
    def notice(self) -> str:
        """What is wrong with the file, for people."""
        return self._file.notice if self._file else ""

    def open(self, host: str) -> NodeState:
        """What is remembered of a node; from now on it is the one that is written down."""
        if self._folder is None:
            return NodeState()
        self._file = StateFile(self._folder, host)
        return self._file.load()

    def changed(self) -> None:
        """Something happened that is to be remembered."""
        self._changed = True

    def write(
        self, state: Callable[[], NodeState], monotonic_s: float, *, at_end: bool = False
    ) -> None:
        """Write it down if it is time to, or if this is the end."""
        if self._file is None:
            return
        if self._written_s is None:
            self._written_s = monotonic_s - _LEAST_S
        since_s = monotonic_s - self._written_s
        due = since_s >= (_LEAST_S if self._changed else _MOST_S)
        if due or at_end:
            self._written_s = monotonic_s
            self._changed = not self._file.save(state(), at_end=at_end)
