"""The starts of jobs: each step in its time, until all ranks are together or one thing is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from fakes.clock import SECOND_US
from fakes.jobs.process import Process
from fakes.nccl.bootstrap import bootstrap
from fakes.nccl.gloo import gloo_mesh
from fakes.nccl.job import Member, Said, StartingJob, Step
from fakes.nccl.net import connect_rings
from fakes.nccl.rendezvous import rendezvous
from fakes.nccl.settings import assignments, effective, job_file
from fakes.nccl.texts import complete
from fakes.node import Node

if TYPE_CHECKING:
    from fakes.world import World

STEPS: Sequence[Callable[[StartingJob], Step]] = (rendezvous, gloo_mesh, bootstrap, connect_rings)

_IMPORTS_US = 8 * SECOND_US
"""How long Python takes to import PyTorch, on eight ranks at once."""

_ENDS_US = SECOND_US
_OTHERS_END_US = 3 * SECOND_US
"""How long the others live where no scheduler ends them: until their launcher notices."""


class Launches:
    """Lets the jobs of a world come together whenever they are started.

    What runs when a run begins has come together long ago.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._beginning: dict[str, _Launch] = {}

    def started(self, node: Node, processes: tuple[Process, ...], at_us: int) -> None:
        """The ranks of a job have been started on a node; its other nodes follow at once."""
        job = processes[0].spec.job if processes else ""
        if not job:
            return
        self._world.homes.take_up(processes[0].spec.user, job)
        if at_us == 0:
            return
        if job not in self._beginning:
            self._beginning[job] = _Launch(self._world, job)
            self._world.schedule(at_us, f"job/{job}", partial(self._begin, job))
        self._beginning[job].parts.append((node, processes))

    def _begin(self, job: str) -> None:
        self._beginning.pop(job).begin()


class _Launch:
    """One start of one job. ``parts`` are its nodes, in the order of its ranks."""

    def __init__(self, world: World, job: str) -> None:
        self.parts: list[tuple[Node, tuple[Process, ...]]] = []
        self._world = world
        self._job = job

    def begin(self) -> None:
        """Go on with the first step, unless there is nobody to come together with."""
        if sum(len(processes) for _, processes in self.parts) > 1:
            self._after(_IMPORTS_US, partial(self._step, 0))

    def _step(self, at: int) -> None:
        job = self._look()
        if job is None:
            return  # it was ended meanwhile
        step = STEPS[at](job)
        for said in step.said:
            self._after(said.after_us, partial(self._say, said))
        if step.failed:
            last_us = max([said.after_us for said in step.said], default=0)
            self._after(last_us + _ENDS_US, partial(self._fail, step.failed))
        elif at + 1 < len(STEPS):
            self._after(step.takes_us, partial(self._step, at + 1))
        else:
            self._after(step.takes_us, partial(self._complete, job))

    def _look(self) -> StartingJob | None:
        """The job as it is now; None if one of its ranks is gone."""
        members = []
        for node, processes in self.parts:
            if any(process.pid not in node.processes for process in processes):
                return None
            user = processes[0].spec.user
            own = assignments(self._world.homes.read(job_file(user, self._job)) or "")
            settings = effective(own, self._world.homes, node.files, user)
            members.append(Member(node, processes, settings))
        return StartingJob(self._job, tuple(members))

    def _say(self, said: Said) -> None:
        if said.process.pid in said.member.node.processes:
            log = said.member.node.job_log
            log.write(self._world.now_us, self._job, said.text, said.process)

    def _fail(self, failed: Sequence[tuple[Member, Process]]) -> None:
        for member, process in failed:
            member.node.end_process(process.pid, self._world.now_us)
        if not self._world.cluster.schedules:
            self._after(_OTHERS_END_US, self._end_others)

    def _end_others(self) -> None:
        for node, processes in self.parts:
            for process in processes:
                node.end_process(process.pid, self._world.now_us)

    def _complete(self, job: StartingJob) -> None:
        """All ranks are together."""
        first_pid = job.head.processes[0].pid
        for member in job.members:
            for process in member.processes if member.verbose else ():
                self._say(Said(member, process, complete(member, process, job.ranks, first_pid)))

    def _after(self, us: int, action: Callable[[], None]) -> None:
        concerns = [node.name for node, _ in self.parts]
        at_us = self._world.now_us + us
        self._world.schedule(at_us, f"job/{self._job}", action, concerns=concerns)
