"""The steps of jobs that run: what ``squeue -s`` and ``scontrol show steps`` list."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.slurm.forms import Field
from fakes.slurm.jobs import JobView
from fakes.slurm.states import PARTITION, elapsed, run_time_s


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a job: its batch script, or what it runs on all of its nodes."""

    view: JobView
    name: str
    node_list: str

    @property
    def id(self) -> str:
        """``1001.batch`` or ``1001.0``."""
        return f"{self.view.job.number}.{'batch' if self.name == 'batch' else '0'}"


def steps_of(view: JobView) -> list[Step]:
    """A job's steps; none while it waits."""
    job = view.job
    if not job.is_placed or not job.nodes:
        return []
    steps = []
    if job.request is None or job.request.batch:
        steps.append(Step(view, "batch", job.nodes[0]))
    if job.request is None:
        program = next(iter(job.specs.values())).command.split()[0].rsplit("/", 1)[-1]
        steps.append(Step(view, program, view.nodes))
    return steps


STEP_FIELDS: dict[str, Field[Step]] = {
    "i": Field("STEPID", lambda step: step.id),
    "j": Field("NAME", lambda step: step.name),
    "P": Field("PARTITION", lambda step: PARTITION),
    "u": Field("USER", lambda step: step.view.job.user),
    "M": Field("TIME", lambda step: elapsed(run_time_s(step.view.world, step.view.job))),
    "N": Field("NODELIST", lambda step: step.node_list),
    "A": Field("JOBID", lambda step: str(step.view.job.number)),
}
