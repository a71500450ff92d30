"""Jobs over several nodes, and the scheduler that places them, as Slurm does.

A node may be drained (its job goes on, no other is placed there) or down. A job whose process ends
before its time fails, and its other processes are ended with it; one whose node goes down, or that
is requeued, waits and is placed again where it fits. Without a scheduler a job that ended stays so.

What is done here is noted as an action of its caller; what happens by itself is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

from fakes.actions import Action, Actions, Effect
from fakes.clock import SECOND_US
from fakes.process import JobSpec, Process

if TYPE_CHECKING:
    from fakes.world import World

FIRST_NUMBER = 1001

_OTHERS_END_US = 2 * SECOND_US
"""How long the others go on when one of a job's processes has ended (srun --kill-on-bad-exit)."""

_PLACES_EVERY_US = 30 * SECOND_US
"""How often the scheduler looks for room, besides at every event."""


class Phase(Enum):
    """How far a job is; Slurm's words, in lower case."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    NODE_FAIL = "node_fail"


@dataclass(frozen=True, slots=True)
class Drain:
    """Why a node is drained, or down, by whom, and since when."""

    reason: str
    user: str
    at_us: int


@dataclass(slots=True, eq=False)
class ClusterNode:
    """A node as the scheduler sees it."""

    name: str
    drain: Drain | None = None
    down: Drain | None = None

    @property
    def takes_jobs(self) -> bool:
        """Whether a job may be placed here."""
        return self.drain is None and self.down is None


@dataclass(slots=True, eq=False)
class ClusterJob:
    """A job: what it runs on each of its nodes, and how far it is.

    ``number`` is the scheduler's, ``id`` the scenario's and the job's name. ``specs`` are in the
    order of its ranks. ``requeues`` counts how often it was put back.
    """

    id: str
    number: int
    user: str
    specs: dict[str, JobSpec]
    phase: Phase = Phase.RUNNING
    reason: str = ""
    submitted_us: int = 0
    started_us: int | None = None
    ended_us: int | None = None
    exit_code: int = 0
    requeues: int = 0
    priority: int = 100
    held: bool = False
    requeueable: bool = True
    ending: bool = field(default=False, repr=False)

    @property
    def nodes(self) -> tuple[str, ...]:
        """Where it runs, ran, or ran last."""
        return tuple(self.specs)

    @property
    def is_active(self) -> bool:
        """Whether it waits or runs."""
        return self.phase in (Phase.PENDING, Phase.RUNNING)


class UnknownError(Exception):
    """No such node, or no such job. One clause."""


class Cluster:
    """The jobs and the nodes of a world."""

    def __init__(self, world: World, *, schedules: bool = False) -> None:
        self.nodes = {name: ClusterNode(name) for name in world.nodes}
        self.jobs: dict[int, ClusterJob] = {}
        self.schedules = schedules
        self.actions = Actions()
        self.on_change: Callable[[], None] | None = None
        self._world = world
        self._next_number = FIRST_NUMBER
        for name, node in world.nodes.items():
            node.on_process_ended = self._ended_on(name)

    # --- jobs -----------------------------------------------------------------------------------

    def add(self, job_id: str, specs: dict[str, JobSpec]) -> ClusterJob:
        """Take up a job that has been started on its nodes."""
        user = next(iter(specs.values())).user
        now_us = self._world.now_us
        job = ClusterJob(
            job_id, self._next_number, user, specs, submitted_us=now_us, started_us=now_us
        )
        self._next_number += 1
        self.jobs[job.number] = job
        return job

    def job(self, name: str) -> ClusterJob:
        """A job by its number, or the newest by its id. Raises :class:`UnknownError`."""
        if name.isdecimal() and int(name) in self.jobs:
            return self.jobs[int(name)]
        for job in reversed(self.jobs.values()):
            if job.id == name:
                return job
        raise UnknownError(f"there is no job {name}")

    def node(self, name: str) -> ClusterNode:
        """A node by its name. Raises :class:`UnknownError`."""
        if name not in self.nodes:
            raise UnknownError(f"there is no node {name}")
        return self.nodes[name]

    def jobs_on(self, node: str) -> tuple[ClusterJob, ...]:
        """The jobs that run on a node."""
        return tuple(
            job for job in self.jobs.values() if job.phase is Phase.RUNNING and node in job.specs
        )

    def is_drained(self, node: str) -> bool:
        """Whether a node is drained, and nothing runs on it any more."""
        return self.nodes[node].drain is not None and not self.jobs_on(node)

    # --- what somebody does ---------------------------------------------------------------------

    def drain(self, name: str, reason: str, user: str) -> None:
        """Let the job on a node go on, and place no other there."""
        self.node(name).drain = Drain(reason, user, self._world.now_us)
        self._note(Effect.DRAIN, node=name, detail=reason)

    def set_down(self, name: str, reason: str, user: str) -> None:
        """Take a node out at once: what runs there fails."""
        self.node(name).down = Drain(reason, user, self._world.now_us)
        self._note(Effect.DOWN, node=name, detail=reason)
        self._fail_jobs_on(name)

    def resume(self, name: str) -> None:
        """Let jobs be placed on a node again."""
        node = self.node(name)
        node.drain = node.down = None
        self._note(Effect.RESUME, node=name)
        self._place_soon(0)

    def requeue(self, name: str) -> None:
        """End a job and let it wait for its next start."""
        job = self.job(name)
        self._note(Effect.REQUEUE, job=job.id)
        self._put_back(job, "")

    def cancel(self, name: str) -> None:
        """End a job for good."""
        job = self.job(name)
        self._note(Effect.CANCEL, job=job.id)
        self._end(job, Phase.CANCELLED)

    def hold(self, name: str, *, held: bool) -> None:
        """Keep a waiting job from being placed, or no longer."""
        self.job(name).held = held
        self._place_soon(0)

    # --- what happens ---------------------------------------------------------------------------

    def node_went_down(self, name: str) -> None:
        """A node is gone: what ran there fails, and waits for its next start."""
        self._fail_jobs_on(name)
        if self.schedules and self.nodes[name].drain is None:
            self.nodes[name].down = Drain("Not responding", "slurm", self._world.now_us)

    def node_came_up(self, name: str) -> None:
        """A node is back. One that nobody had drained went down unexpectedly, and stays out."""
        node = self.nodes[name]
        if node.down is not None and node.down.reason == "Not responding":
            node.down = replace(node.down, reason="Node unexpectedly rebooted")
        self._place_soon(0)

    def _ended_on(self, node: str) -> Callable[[Process, int], None]:
        def ended(process: Process, at_us: int) -> None:
            for job in self.jobs_on(node):
                if job.id == process.spec.job and not job.ending:
                    self._lose_process(job)

        return ended

    def _lose_process(self, job: ClusterJob) -> None:
        """One of a job's processes ended: the job fails, and soon its others end too.

        Without a scheduler nobody ends them: the job has failed when the last is gone.
        """
        if not self.schedules:
            if not self._has_processes(job):
                self._end(job, Phase.FAILED, exit_code=1)
            return
        job.ending = True
        self._world.schedule(
            self._world.now_us + _OTHERS_END_US,
            f"job/{job.id}",
            lambda: self._end(job, Phase.FAILED, exit_code=1) if job.ending else None,
        )

    def _has_processes(self, job: ClusterJob) -> bool:
        return any(
            process.spec.job == job.id
            for name in job.specs
            for process in self._world.nodes[name].processes.values()
        )

    def _fail_jobs_on(self, node: str) -> None:
        for job in self.jobs_on(node):
            if self.schedules and job.requeueable:
                self._put_back(job, "NODE_FAIL")
            else:
                self._end(job, Phase.NODE_FAIL)

    def _put_back(self, job: ClusterJob, reason: str) -> None:
        self._end_processes(job)
        job.phase = Phase.PENDING
        job.reason = reason or "BeginTime"
        job.requeues += 1
        job.ending = False
        job.started_us = None
        self._place_soon(_PLACES_EVERY_US)

    def _end(self, job: ClusterJob, phase: Phase, *, exit_code: int = 0) -> None:
        if not job.is_active:
            return
        self._end_processes(job)
        job.phase, job.exit_code = phase, exit_code
        job.ended_us = self._world.now_us
        job.ending = False
        self._place_soon(0)

    def _end_processes(self, job: ClusterJob) -> None:
        job.ending = True
        for name in job.specs:
            node = self._world.nodes[name]
            for process in tuple(node.processes.values()):
                if process.spec.job == job.id:
                    node.end_process(process.pid, self._world.now_us)

    # --- placing --------------------------------------------------------------------------------

    def _place_soon(self, in_us: int) -> None:
        if self.schedules:
            self._world.schedule(self._world.now_us + in_us, "scheduler", self._place)

    def _place(self) -> None:
        """Start what waits and fits, the highest priority first."""
        waiting = [job for job in self.jobs.values() if job.phase is Phase.PENDING and not job.held]
        for job in sorted(waiting, key=lambda job: (-job.priority, job.number)):
            nodes = self._room_for(job)
            if nodes is None:
                job.reason = "Resources"
            else:
                self._start(job, nodes)
        if any(job.phase is Phase.PENDING and not job.held for job in self.jobs.values()):
            self._place_soon(_PLACES_EVERY_US)

    def _room_for(self, job: ClusterJob) -> list[str] | None:
        """As many nodes as it needs, those that it had before first; None if there are not."""
        free = [
            name
            for name, node in self.nodes.items()
            if node.takes_jobs and self._is_usable(name) and not self.jobs_on(name)
        ]
        chosen = [name for name in job.specs if name in free]
        chosen += [name for name in free if name not in chosen]
        wanted = len(job.specs)
        return chosen[:wanted] if len(chosen) >= wanted else None

    def _is_usable(self, name: str) -> bool:
        node = self._world.nodes[name]
        return node.is_up and all(gpu.lost is None and not gpu.reset_required for gpu in node.gpus)

    def _start(self, job: ClusterJob, nodes: list[str]) -> None:
        job.specs = dict(zip(nodes, job.specs.values(), strict=True))
        job.phase, job.reason, job.ending = Phase.RUNNING, "", False
        job.started_us = self._world.now_us
        for name, spec in job.specs.items():
            self._world.nodes[name].start_job(spec, self._world.now_us)

    def _note(
        self,
        effect: Effect,
        *,
        node: str | None = None,
        job: str | None = None,
        detail: str = "",
    ) -> None:
        self.actions.note(Action(self._world.now_us, effect, node, None, job, detail=detail))
