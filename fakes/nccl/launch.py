"""The starts of jobs: each step in its time, until all ranks are together or one thing is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from fakes.clock import SECOND_US
from fakes.nccl.bootstrap import bootstrap
from fakes.nccl.gloo import gloo_mesh
from fakes.nccl.job import Member, StartingJob, Step
from fakes.nccl.net import connect_rings
from fakes.nccl.rendezvous import rendezvous
from fakes.nccl.settings import assignments, effective, job_file
from fakes.nccl.texts import info
from fakes.node import Node
from fakes.process import Process

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
        self._started: dict[str, list[tuple[Node, tuple[Process, ...]]]] = {}

    def started(self, node: Node, processes: tuple[Process, ...], at_us: int) -> None:
        """The ranks of a job have been started on a node; its other nodes follow at once."""
        job = processes[0].spec.job if processes else ""
        if not job:
            return
        self._world.homes.take_up(processes[0].spec.user, job)
        if at_us == 0:
            return
        if job not in self._started:
            self._started[job] = []
            self._world.schedule(at_us, f"job/{job}", partial(self._begin, job))
        self._started[job].append((node, processes))

    def _begin(self, job: str) -> None:
        parts = self._started.pop(job)
        if sum(len(processes) for _, processes in parts) < 2:
            return  # alone: nobody to come together with
        self._after(_IMPORTS_US, job, partial(self._step, job, parts, 0))

    def _step(self, job: str, parts: list[tuple[Node, tuple[Process, ...]]], at: int) -> None:
        starting = self._starting(job, parts)
        if starting is None:
            return  # it was ended meanwhile
        step = STEPS[at](starting)
        for said in step.said:
            self._after(
                said.after_us, job, partial(self._say, job, said.member, said.process, said.text)
            )
        if step.failed:
            last_us = max([said.after_us for said in step.said], default=0)
            self._after(last_us + _ENDS_US, job, partial(self._fail, starting, step.failed))
        elif at + 1 < len(STEPS):
            self._after(step.takes_us, job, partial(self._step, job, parts, at + 1))
        else:
            self._after(step.takes_us, job, partial(self._complete, starting))

    def _starting(
        self, job: str, parts: list[tuple[Node, tuple[Process, ...]]]
    ) -> StartingJob | None:
        """The job as it is now; None if one of its ranks is gone."""
        members = []
        for node, processes in parts:
            if any(process.pid not in node.processes for process in processes):
                return None
            user = processes[0].spec.user
            own = assignments(self._world.homes.read(job_file(user, job)) or "")
            settings = effective(own, self._world.homes, node.files, user)
            members.append(Member(node, processes, settings))
        return StartingJob(job, tuple(members))

    def _say(self, job: str, member: Member, process: Process, text: str) -> None:
        if process.pid in member.node.processes:
            member.node.job_log.write(self._world.now_us, job, text, process)

    def _fail(self, job: StartingJob, failed: list[tuple[Member, Process]]) -> None:
        for member, process in failed:
            member.node.job_log.dying.add(process.pid)
            member.node.end_process(process.pid, self._world.now_us)
        if not self._world.cluster.schedules:
            self._after(_OTHERS_END_US, job.id, partial(self._end_others, job))

    def _end_others(self, job: StartingJob) -> None:
        for member in job.members:
            for process in member.processes:
                member.node.end_process(process.pid, self._world.now_us)

    def _complete(self, job: StartingJob) -> None:
        """All ranks are together."""
        for member in job.members:
            if not member.verbose:
                continue
            for process in member.processes:
                spec = process.spec
                text = info(
                    member,
                    process,
                    f"comm 0x{process.pid * 4096 + 0x5581A0000000:x} rank {spec.rank} nranks "
                    f"{job.ranks} cudaDev {spec.local_rank} nvmlDev {spec.gpu} busId "
                    f"{_bus_number(member.node, spec.gpu)} commId 0x{job.head.processes[0].pid:x} "
                    "- Init COMPLETE",
                )
                self._say(job.id, member, process, text)

    def _after(self, us: int, job: str, action: Callable[[], None]) -> None:
        self._world.schedule(self._world.now_us + us, f"job/{job}", action)


def _bus_number(node: Node, gpu: int) -> str:
    """A GPU's address as NCCL writes it: bus, device and function in one number."""
    _, bus, device = node.gpus[gpu].bus_id.split(":")
    return f"{int(bus, 16):x}{int(device, 16):02x}0"
