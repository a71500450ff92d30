"""What a job is to be doing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from chaos.condition import condition
from chaos.expectation import NEEDS_SCHEDULER, ReadingContext
from chaos.selection import JobId
from fakes.jobs.cluster import Phase, UnknownError
from fakes.world import World


class JobWord(str, Enum):
    """How far a job is. ``requeued`` is one that was put back, whether or not it runs again."""

    PENDING = "pending"
    RUNNING = "running"
    REQUEUED = "requeued"
    FAILED = "failed"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


_PHASES = {
    JobWord.PENDING: (Phase.PENDING,),
    JobWord.RUNNING: (Phase.RUNNING,),
    JobWord.FAILED: (Phase.FAILED, Phase.NODE_FAIL),
    JobWord.COMPLETED: (Phase.COMPLETED,),
    JobWord.CANCELLED: (Phase.CANCELLED,),
}


_SCHEDULED = (JobWord.PENDING, JobWord.REQUEUED)


@condition("job")
@dataclass(frozen=True, slots=True)
class JobCondition:
    """A job is pending, running, requeued, failed, completed or cancelled."""

    job: JobId
    is_: JobWord

    def wrong(self, context: ReadingContext) -> Iterator[tuple[str, str]]:
        """What only a scheduler can make of it."""
        if self.is_ in _SCHEDULED and not context.scheduler:
            yield "is_", f"'{self.is_.value}' {NEEDS_SCHEDULER}"

    def broken(self, world: World) -> str:
        """What it is instead."""
        try:
            job = world.cluster.job(self.job.text)
        except UnknownError as error:
            return str(error)
        if self.is_ is JobWord.REQUEUED:
            was_put_back = job.requeues > 0 and job.is_active
            return "" if was_put_back else f"job {job.id} was not requeued"
        return "" if job.phase in _PHASES[self.is_] else f"job {job.id} is {job.phase.value}"
