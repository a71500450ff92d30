"""A job that is stopped: all of its processes end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.selection import JobId
from chaos.undo import Undo
from fakes.world import World


@fault("job", by="stop")
@dataclass(frozen=True, slots=True)
class Stop:
    """End every process of a job, ``stop`` by its id. Healing does not bring it back."""

    stop: JobId

    does_not_prove: ClassVar[str] = "that a scheduler would take note, or start it again"

    def apply(self, world: World, undo: Undo) -> None:
        """End it on every node."""
        stop(self.stop.text, world)


def stop(job: str, world: World) -> None:
    """End every process of a job."""
    for node in world.nodes.values():
        for process in tuple(node.processes.values()):
            if process.spec.job == job:
                node.end_process(process.pid, world.now_us)
