"""A job that is started anew: its processes end, and others take their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.faults.job_stop import stop
from chaos.selection import JobId
from chaos.undo import Undo
from chaos.values import Duration
from fakes.world import World


@fault("job", by="restart")
@dataclass(frozen=True, slots=True)
class Restart:
    """End every process of a job, ``restart`` by its id, and start it again ``pause`` later.

    It has the memory and the load with which it began. Healed before that, it stays ended.
    """

    restart: JobId
    pause: Duration = Duration(10_000_000)

    does_not_prove: ClassVar[str] = "that it would find its checkpoint, or its GPUs free"

    def apply(self, world: World, undo: Undo) -> None:
        """End it now, and schedule its start."""
        job = self.restart.text
        runs_on = [
            node
            for node in world.nodes.values()
            if any(process.spec.job == job for process in node.processes.values())
        ]
        stop(job, world)

        def begin() -> None:
            for node in runs_on:
                node.start_job(node.jobs[job], world.now_us)

        undo.schedule(world, world.now_us + self.pause.us, f"job/{job}", begin)
