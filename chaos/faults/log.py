"""A line in a log: what the kernel, or a job, would print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.jobs.process import Process
from fakes.node import Node
from fakes.world import World

_KERNEL = "kernel"


@fault("log")
@dataclass(frozen=True, slots=True)
class Log:
    """Print a line, or several, into the kernel log or into that of a job.

    ``source`` is ``kernel`` or a job's id. Of a job it is ``rank`` that prints them, or, without
    one, whoever started its ranks. Healing does not take them back.
    """

    node: Nodes
    source: str = _KERNEL
    line: str | None = None
    lines: str | None = None
    rank: int | None = None

    does_not_prove: ClassVar[str] = "that what they report has happened"

    def __post_init__(self) -> None:
        """Refuse what prints nothing, and a rank of the kernel's."""
        if (self.line is None) == (self.lines is None):
            raise ValueError("log: give either 'line' or 'lines'.")
        if self.line is not None and "\n" in self.line:
            raise ValueError("line: it is more than one; call it 'lines'.")
        if not self._texts:
            raise ValueError("log: there is nothing to print.")
        if self.rank is not None and self.source == _KERNEL:
            raise ValueError("rank: the kernel has none; 'source' names the job.")

    @property
    def _texts(self) -> list[str]:
        given = self.line if self.line is not None else self.lines or ""
        return [text for text in given.splitlines() if text.strip()]

    def apply(self, world: World, undo: Undo) -> None:
        """Print them now, on each node."""
        del undo  # what is printed is printed
        for name in self.node.resolve(Inventory.of(world)):
            node = world.nodes[name]
            process = None if self.source == _KERNEL else self._process(node)
            for text in self._texts:
                if self.source == _KERNEL:
                    node.kernel_log.write(world.now_us, text)
                else:
                    node.job_log.write(world.now_us, self.source, text, process)

    def _process(self, node: Node) -> Process | None:
        """The rank that prints; None for the launcher of a job that is, or was, on the node."""
        of_job = [one for one in node.processes.values() if one.spec.job == self.source]
        if not of_job and self.source not in node.jobs:
            raise FaultError(f"there is no job '{self.source}' on {node.name}")
        if self.rank is None:
            return None
        found = next((one for one in of_job if one.spec.rank == self.rank), None)
        if found is None:
            raise FaultError(f"job '{self.source}' has no rank {self.rank} on {node.name}")
        return found
