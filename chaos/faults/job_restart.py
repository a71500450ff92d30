"""A job that is started anew: its processes end, and others take their place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.faults.job_stop import stop
from chaos.format.values import Duration
from chaos.selection import JobId
from chaos.undo import Undo
from fakes.jobs.cluster import ClusterJob, Phase, UnknownError
from fakes.node import Node
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
        """End it now, and schedule its start where it ran. Its scheduler takes it as waiting."""
        job = _record(world, self.restart.text)
        if job is not None:
            job.ending, job.phase, job.reason, job.held = True, Phase.PENDING, "BeginTime", True
        runs_on = (
            [world.nodes[name] for name in job.specs]
            if job is not None
            else [node for node in world.nodes.values() if _runs_on(node, self.restart.text)]
        )
        stop(self.restart.text, world)

        def begin() -> None:
            if job is not None:
                job.ending, job.phase, job.reason, job.held = False, Phase.RUNNING, "", False
                job.started_us = world.now_us
            for node in runs_on:
                spec = node.jobs[self.restart.text] if job is None else job.specs[node.name]
                node.start_job(spec, world.now_us)

        undo.schedule(world, world.now_us + self.pause.us, f"job/{self.restart}", begin)


def _record(world: World, job_id: str) -> ClusterJob | None:
    """The job as its scheduler knows it; None of one that nobody told it of."""
    try:
        return world.cluster.job(job_id)
    except UnknownError:
        return None


def _runs_on(node: Node, job_id: str) -> bool:
    return any(process.spec.job == job_id for process in node.processes.values())
