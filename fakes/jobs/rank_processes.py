"""The processes of a job, on all of its nodes: started, ended, paused together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fakes.jobs.process import Process
from fakes.jobs.records import ClusterJob

if TYPE_CHECKING:
    from fakes.node import Node
    from fakes.world import World


def processes_of(world: World, job: ClusterJob) -> Iterator[tuple[Node, Process]]:
    """Those that live, each with its node; they may end meanwhile."""
    for name in job.specs:
        node = world.nodes[name]
        for process in tuple(node.processes.values()):
            if process.spec.job == job.id:
                yield node, process


def start_processes(world: World, job: ClusterJob) -> None:
    """Start them, as the job's specifications say."""
    for name, spec in job.specs.items():
        world.nodes[name].start_job(spec, world.now_us)


def end_processes(world: World, job: ClusterJob) -> None:
    """End them all."""
    for node, process in processes_of(world, job):
        node.end_process(process.pid, world.now_us)


def pause_processes(world: World, job: ClusterJob, *, paused: bool) -> None:
    """Let them load their GPUs no more, or again as they did."""
    for node, process in processes_of(world, job):
        load = 0.0 if paused else job.specs[node.name].load
        node.gpus[process.spec.gpu].ask(process.pid, load, world.now_us)
