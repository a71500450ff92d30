"""Jobs over several nodes, and the scheduler that places them, as Slurm does.

A node may be drained (its job goes on, no other is placed there) or down. A job whose process ends
before its time fails, and its other processes are ended with it; one whose node goes down, or that
is requeued, waits and is placed again where it fits. Without a scheduler a job that ended stays so.
A job that was submitted runs as long as its script says, or until whoever runs it tells its end.

What is done here is noted as an action of its caller; what happens by itself is none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from fakes.actions import Action, Actions, Effect
from fakes.clock import SECOND_US
from fakes.jobs.placement import reason_of, room_for, specs_of
from fakes.jobs.process import JobSpec, Process
from fakes.jobs.rank_processes import end_processes, pause_processes, processes_of, start_processes
from fakes.jobs.records import (
    ClusterJob,
    ClusterNode,
    Drain,
    Phase,
    Reboot,
    Request,
    Reservation,
)
from fakes.kubernetes.state import Kubernetes

if TYPE_CHECKING:
    from fakes.world import World

__all__ = ["Cluster", "ClusterJob", "ClusterNode", "Drain", "Phase", "UnknownError"]

FIRST_NUMBER = 1001

_OTHERS_END_US = 2 * SECOND_US
"""How long the others go on when one of a job's processes has ended (srun --kill-on-bad-exit)."""

_PLACES_EVERY_US = 30 * SECOND_US
"""How often the scheduler looks for room, besides at every event."""


class UnknownError(Exception):
    """No such node, or no such job. One clause."""


class Cluster:
    """The jobs and the nodes of a world. ``scheduler`` is who places them: Slurm or Kubernetes."""

    def __init__(self, world: World, *, schedules: bool = False) -> None:
        self.nodes = {name: ClusterNode(name) for name in world.nodes}
        self.jobs: dict[int, ClusterJob] = {}
        self.reservations: dict[str, Reservation] = {}
        self.schedules = schedules
        self.scheduler: str | None = "slurm" if schedules else None
        self.kubernetes = Kubernetes()
        self.actions = Actions()
        self.on_change: Callable[[], None] | None = None
        self._world = world
        self._next_number = FIRST_NUMBER
        self._next_place_us: int | None = None
        for name, node in world.nodes.items():
            node.on_process_ended = self._ended_on(name)

    # --- jobs -----------------------------------------------------------------------------------

    def add(self, job_id: str, specs: dict[str, JobSpec]) -> ClusterJob:
        """Take up a job that has been started on its nodes."""
        user = next(iter(specs.values())).user
        now_us = self._world.now_us
        return self._take_up(
            ClusterJob(
                job_id, self._next_number, user, specs, submitted_us=now_us, started_us=now_us
            )
        )

    def submit(self, name: str, user: str, request: Request, *, held: bool = False) -> ClusterJob:
        """Take up a job that is to be placed; it begins when there is room for it."""
        taken = any(job.id == name for job in self.jobs.values())
        job = ClusterJob(
            f"{name}-{self._next_number}" if taken else name,
            self._next_number,
            user,
            {},
            Phase.PENDING,
            submitted_us=self._world.now_us,
            held=held,
            name=name,
            request=request,
        )
        self._take_up(job)
        self._note(Effect.SUBMIT, job=job.id)
        self._place()
        return job

    def skip_number(self) -> None:
        """A job was taken up, and ended before it was told of."""
        self._next_number += 1

    def _take_up(self, job: ClusterJob) -> ClusterJob:
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
        return tuple(job for job in self.jobs.values() if job.is_placed and node in job.specs)

    def is_drained(self, node: str) -> bool:
        """Whether a node is drained, and nothing runs on it any more."""
        return self.nodes[node].drain is not None and not self.jobs_on(node)

    # --- what somebody does ---------------------------------------------------------------------

    def drain(self, name: str, reason: str, user: str) -> None:
        """Let the job on a node go on, and place no other there."""
        node = self.node(name)
        node.drain = Drain(reason, user, self._world.now_us)
        self._because(node, node.drain)
        self._note(Effect.DRAIN, node=name, detail=reason)

    def fail(self, name: str, reason: str, user: str) -> None:
        """Mark a node as failing: as a drain, but for its name."""
        node = self.node(name)
        node.failing = Drain(reason, user, self._world.now_us)
        self._because(node, node.failing)
        self._note(Effect.DRAIN, node=name, detail=reason)

    def set_down(self, name: str, reason: str, user: str) -> None:
        """Take a node out at once: what runs there fails."""
        node = self.node(name)
        node.down = Drain(reason, user, self._world.now_us)
        self._because(node, node.down)
        self._note(Effect.DOWN, node=name, detail=reason)
        self._fail_jobs_on(name)

    def resume(self, name: str) -> None:
        """Let jobs be placed on a node again."""
        self._clear(self.node(name))
        self._note(Effect.RESUME, node=name)
        self._place_soon(0)

    def undrain(self, name: str) -> None:
        """Take back a drain, and leave the rest as it is."""
        node = self.node(name)
        node.drain = node.failing = None
        self._note(Effect.RESUME, node=name)
        self._place_soon(0)

    def cordon(self, name: str, user: str) -> None:
        """Place no job on a node, as Kubernetes says it."""
        self.node(name).drain = Drain("cordoned", user, self._world.now_us)
        self._note(Effect.CORDON, node=name)

    def uncordon(self, name: str) -> None:
        """Take back a cordon."""
        self.node(name).drain = None
        self._note(Effect.UNCORDON, node=name)
        self._place_soon(0)

    def drained(self, name: str) -> None:
        """Somebody emptied a cordoned node."""
        self._note(Effect.DRAIN, node=name, detail="evicted")

    def requeue(self, name: str, *, held: bool = False) -> None:
        """End a job and let it wait for its next start, or for its release."""
        job = self.job(name)
        job.held = job.held or held
        self._note(Effect.REQUEUE, job=job.id)
        self._put_back(job, "")

    def cancel(self, name: str) -> None:
        """End a job for good."""
        job = self.job(name)
        self._note(Effect.CANCEL, job=job.id)
        self._end(job, Phase.CANCELLED)

    def hold(self, name: str, *, held: bool) -> None:
        """Keep a waiting job from being placed, or no longer."""
        job = self.job(name)
        job.held, job.held_by_admin = held, False
        self._place_soon(0)

    def suspend(self, name: str, *, suspended: bool) -> None:
        """Let a job rest on its nodes, or go on."""
        job = self.job(name)
        job.phase = Phase.SUSPENDED if suspended else Phase.RUNNING
        pause_processes(self._world, job, paused=suspended)

    def reserve(self, reservation: Reservation) -> None:
        """Keep nodes for somebody."""
        self.reservations[reservation.name] = reservation
        for name in reservation.nodes:
            self.node(name).reservation = reservation

    def unreserve(self, name: str) -> None:
        """Keep them no longer. Raises :class:`UnknownError`."""
        if name not in self.reservations:
            raise UnknownError(f"there is no reservation {name}")
        del self.reservations[name]
        for node in self.nodes.values():
            if node.reservation is not None and node.reservation.name == name:
                node.reservation = None
        self._place_soon(0)

    def model(self, job: ClusterJob) -> None:
        """Nobody runs a job's script: it is taken to run as long as it sleeps."""
        if job.request is None or not job.request.real:
            return
        job.request = replace(job.request, real=False)
        if job.phase is Phase.RUNNING:
            start_processes(self._world, job)
            self._end_in_time(job, replace(job.request, limit_s=None), job.requeues)

    def finish(self, job: ClusterJob, exit_code: int, signal: int = 0) -> None:
        """Its script ended."""
        job.signal = signal
        failed = bool(exit_code or signal)
        self._end(job, Phase.FAILED if failed else Phase.COMPLETED, exit_code=exit_code)

    # --- what happens ---------------------------------------------------------------------------

    def node_went_down(self, name: str) -> None:
        """A node is gone: what ran there fails, and waits for its next start."""
        self._fail_jobs_on(name)
        node = self.nodes[name]
        is_meant = node.reboot is not None and node.reboot.issued
        if self.schedules and node.drain is None and not is_meant:
            node.down = Drain("Not responding", "slurm", self._world.now_us)

    def node_came_up(self, name: str) -> None:
        """A node is back. One that nobody had drained went down unexpectedly, and stays out.

        One that the scheduler had rebooted becomes what was asked for.
        """
        node = self.nodes[name]
        reboot, node.reboot = node.reboot, None
        if reboot is not None and reboot.next_state == "RESUME":
            self.resume(name)
        elif reboot is not None and reboot.next_state == "DOWN":
            node.down = Drain("Reboot complete", "root", self._world.now_us)
        elif node.down is not None and node.down.reason == "Not responding":
            node.down = replace(node.down, reason="Node unexpectedly rebooted")
        self._place_soon(0)

    def reboot_asked(self, name: str, next_state: str) -> None:
        """Take no more jobs until the node was rebooted."""
        self.node(name).reboot = Reboot(next_state)

    def reboot_issued(self, name: str) -> None:
        """The reboot begins."""
        node = self.node(name)
        if node.reboot is not None:
            node.reboot = replace(node.reboot, issued=True)

    def _because(self, node: ClusterNode, why: Drain) -> None:
        """A node has one reason, whatever it is: the last that was given."""
        node.drain = node.drain and why
        node.down = node.down and why
        node.failing = node.failing and why

    def _clear(self, node: ClusterNode) -> None:
        node.drain = node.down = node.failing = None

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
            if not any(processes_of(self._world, job)):
                self._end(job, Phase.FAILED, exit_code=1)
            return
        job.ending = True
        self._world.schedule(
            self._world.now_us + _OTHERS_END_US,
            f"job/{job.id}",
            lambda: self._end(job, Phase.FAILED, exit_code=1) if job.ending else None,
        )

    def _fail_jobs_on(self, node: str) -> None:
        for job in self.jobs_on(node):
            if self.schedules and job.requeueable:
                self._put_back(job, "NODE_FAIL")
            else:
                self._end(job, Phase.NODE_FAIL)

    def put_back(self, job: ClusterJob) -> None:
        """End a job where it runs, and let it wait for another place."""
        self._put_back(job, "")

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
        end_processes(self._world, job)

    # --- placing --------------------------------------------------------------------------------

    def _place_soon(self, in_us: int) -> None:
        at_us = self._world.now_us + in_us
        if not self.schedules or (self._next_place_us is not None and self._next_place_us <= at_us):
            return
        self._next_place_us = at_us
        self._world.schedule(at_us, "scheduler", self._place)

    def _place(self) -> None:
        """Start what waits and fits, the highest priority first."""
        self._next_place_us = None
        waiting = [job for job in self.jobs.values() if job.phase is Phase.PENDING and not job.held]
        for job in sorted(waiting, key=lambda job: (-job.priority, job.number)):
            placed = room_for(self._world, self, job)
            if placed is None:
                job.reason = reason_of(self._world, self, job)
            else:
                self._start(job, placed)
        if any(job.phase is Phase.PENDING and not job.held for job in self.jobs.values()):
            self._place_soon(_PLACES_EVERY_US)

    def _start(self, job: ClusterJob, placed: dict[str, tuple[int, ...]]) -> None:
        job.specs = specs_of(job, placed)
        job.phase, job.reason, job.ending = Phase.RUNNING, "", False
        job.started_us = self._world.now_us
        request = job.request
        if request is None or not request.real:
            start_processes(self._world, job)
        if request is not None:
            self._end_in_time(job, request, job.requeues)

    def _end_in_time(self, job: ClusterJob, request: Request, start: int) -> None:
        """End a submitted job when its time is over, and its script, where nobody runs it."""

        def end(phase: Phase, exit_code: int) -> None:
            if job.phase is Phase.RUNNING and job.requeues == start:
                self._end(job, phase, exit_code=exit_code)

        actor, now_us = f"job/{job.id}", self._world.now_us
        if request.limit_s is not None:
            over_us = now_us + request.limit_s * SECOND_US
            self._world.schedule(over_us, actor, lambda: end(Phase.TIMEOUT, 0))
        if not request.real:
            done_us = now_us + round(request.duration_s * SECOND_US)
            phase = Phase.FAILED if request.exit_code else Phase.COMPLETED
            self._world.schedule(done_us, actor, lambda: end(phase, request.exit_code))

    def _note(
        self,
        effect: Effect,
        *,
        node: str | None = None,
        job: str | None = None,
        detail: str = "",
    ) -> None:
        self.actions.note(Action(self._world.now_us, effect, node, None, job, detail=detail))
