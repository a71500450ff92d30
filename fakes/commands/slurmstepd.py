"""``slurmstepd``: what runs a job's script on its first node. sbatch leaves it behind.

It waits until the job is placed, runs the script with the job's environment, ends it when the job
is over, and tells the scheduler what came of it.
"""

from __future__ import annotations

import signal as signals
from collections.abc import Callable, Sequence

from fakes.clock import SECOND_US
from fakes.commands.registry import command
from fakes.jobs.records import ClusterJob, Phase
from fakes.node import Node
from fakes.slurm.environment import task_environment
from fakes.slurm.jobs import JobView
from fakes.world import World

_LOOKS_AFTER_US = SECOND_US
_LOOKS_EVERY_US = 15 * SECOND_US
_KILL_WAIT_US = 30 * SECOND_US
_RUN = (
    'umask 022; cd "$2" 2>/dev/null || cd /tmp; f=$(mktemp /tmp/slurm_script.XXXXXX) || exit 1; '
    'printf %s "$1" >"$f"; chmod 700 "$f"; "$f" >"$3" 2>"${4:-/dev/null}"; s=$?; rm -f "$f"; '
    "exit $s"
)
_RUN_JOINED = _RUN.replace('2>"${4:-/dev/null}"', "2>&1")

Spawn = Callable[[Sequence[str], "int | None"], "int | None"]


@command("slurmstepd", latency_us=0)
def main(
    argv: Sequence[str], node: Node, world: World, spawn: Spawn, signal: Callable[[int], None],
    pause: Callable[[int], None],
) -> int:  # fmt: skip
    """Wait for the job's start, and run it; again if it is requeued."""
    if len(argv) != 1 or not argv[0].isdecimal() or int(argv[0]) not in world.cluster.jobs:
        return 1
    job = world.cluster.jobs[int(argv[0])]
    wait_us = _LOOKS_AFTER_US
    try:
        while job.is_active:
            if job.phase is not Phase.RUNNING:
                pause(wait_us)
                wait_us = min(2 * wait_us, _LOOKS_EVERY_US)
            elif job.nodes[0] != node.name:
                return 0  # another node's: it is only modelled
            else:
                wait_us = _LOOKS_AFTER_US
                _run(job, world, node, spawn, signal)
    finally:
        if job.is_active:
            world.cluster.model(job)
    return 0


def _run(
    job: ClusterJob, world: World, node: Node, spawn: Spawn, signal: Callable[[int], None]
) -> None:
    start = job.requeues
    wait_us = _LOOKS_AFTER_US
    status = spawn(_words(job, world, node), wait_us)
    while status is None:
        if job.phase not in (Phase.RUNNING, Phase.SUSPENDED) or job.requeues != start:
            signal(signals.SIGTERM)
            if spawn((), _KILL_WAIT_US) is None:
                signal(signals.SIGKILL)
                spawn((), None)
            return
        wait_us = min(2 * wait_us, _LOOKS_EVERY_US)
        status = spawn((), wait_us)
    if job.phase is Phase.RUNNING and job.requeues == start:
        killed = status - 128 if status > 128 else 0
        world.cluster.finish(job, 0 if killed else status, killed)


def _words(job: ClusterJob, world: World, node: Node) -> list[str]:
    view = JobView(world, job)
    request = job.request
    assert request is not None
    variables = task_environment(world, job, node.name)
    assigned = [f"{name}={value}" for name, value in variables.items()]
    out, error = view.output(), view.output(error=True)
    run = _RUN_JOINED if error == out else _RUN
    shell = ["/bin/sh", "-c", run, "slurmstepd", request.script, request.work_dir, out, error]
    return ["/usr/bin/env", *assigned, *shell]
