"""GPUs on which somebody works whom this container may not see.

The driver lists processes of this PID namespace, or of none at all (WSL, some virtual GPUs). Whose
memory it is then cannot be told, also while the neighbour rests.
"""

from __future__ import annotations

from gputui.model import NodeSample

_SURE = 5
"""Samples in a row: the utilization of a process that ended is still read for one or two."""


class Neighbourhood:
    """What is remembered of it for as long as this program runs."""

    def __init__(self) -> None:
        self._unseen: dict[int, int] = {}

    def add(self, sample: NodeSample) -> None:
        """Take in a sample."""
        listed = {process.gpu for process in sample.processes}
        for gpu in sample.gpus:
            count = self._unseen.get(gpu.index, 0)
            if gpu.index in listed:
                self._unseen.pop(gpu.index, None)
            elif gpu.utilization_percent:
                self._unseen[gpu.index] = min(count + 1, _SURE)
            elif 0 < count < _SURE:
                del self._unseen[gpu.index]

    def works_on(self, index: int) -> bool:
        """Whether somebody has worked on a GPU while nobody was listed for it."""
        return self._unseen.get(index, 0) >= _SURE
