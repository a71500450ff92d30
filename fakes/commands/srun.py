"""``srun`` and ``salloc``: programs on the nodes of an allocation (srun(1), salloc(1)).

Each task runs with its own environment; on other nodes than the caller's as remote_shell.py says.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TextIO

from fakes.clock import SECOND_US
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.commands.remote_shell import NotThereError, Spawn, Task, together, words_on
from fakes.jobs.records import ClusterJob, Phase
from fakes.node import Node
from fakes.slurm.client import NO_CONTROLLER, UsageError, answers, print_version, usage
from fakes.slurm.environment import job_environment, task_environment
from fakes.slurm.hostlist import expand
from fakes.slurm.submit import BAD_PARTITION, OPTIONS, RefusedError, request_of
from fakes.world import World

_LOOKS_EVERY_US = SECOND_US
_NOT_FOUND = (
    'command -v "$1" >/dev/null || {{ echo "slurmstepd-{node}: error: execve(): $1: '
    'No such file or directory" >&2; exit 2; }}; exec "$@"'
)


@dataclass(frozen=True, slots=True)
class _Caller:
    world: World
    here: Node
    user: str
    cwd: str
    pause: Callable[[int], None]
    err: TextIO


@command("srun", latency_us=50_000)
def srun(
    argv: Sequence[str], node: Node, world: World, user: str, cwd: str, env: Mapping[str, str],
    spawn: Spawn, pause: Callable[[int], None], out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Run it as often as there are tasks; the highest exit status."""
    try:
        options, words = OPTIONS.parse(argv, stops=True)
        if "version" in options:
            return print_version(out)
        if not words:
            err.write("srun: fatal: No command given to execute.\n")
            return 1
        if not answers(world):
            err.write(f"srun: error: Unable to allocate resources: {NO_CONTROLLER}\n")
            return 1
        caller = _Caller(world, node, user, cwd, pause, err)
        inside = _allocation(world, options.get("jobid", env.get("SLURM_JOB_ID", "")))
        job = inside or _allocate(caller, "srun", options, words[0].rsplit("/", 1)[-1])
        request = request_of(world, options, cwd)
    except UsageError as error:
        return usage("srun", error, err)
    except RefusedError as refused:
        return _refuse("srun", refused, options, err)
    nodes = _nodes(job, options) if inside else list(job.nodes)
    per_node = request.tasks if "ntasks" in options or "ntasks-per-node" in options else 1
    if inside and "ntasks" in options and "nodes" not in options:
        per_node = -(-int(options["ntasks"]) // len(nodes))
    try:
        tasks = [
            _task(caller, job, name, at * per_node + local, local, words, "label" in options)
            for at, name in enumerate(nodes)
            for local in range(per_node)
        ]
    except NotThereError as error:
        if not inside:
            world.cluster.finish(job, 1)
        err.write(f"srun: {error}\n")
        return NOT_UNDERSTOOD
    tasks = tasks[: int(options["ntasks"])] if "ntasks" in options else tasks
    status = _run(tasks, spawn, err)
    if not inside:
        world.cluster.finish(job, status if status <= 128 else 0, max(status - 128, 0))
    return status


def _run(tasks: Sequence[Task], spawn: Spawn, err: TextIO) -> int:
    """One task has the caller's own output; several are shown one after the other."""
    if len(tasks) > 1 or tasks[0].prefix:
        return spawn(together(tasks), None) or 0
    status = spawn(tasks[0].words, None) or 0
    if status:
        said = tasks[0].killed if status > 128 else tasks[0].failed
        err.write(said.replace("$s", str(status)) + "\n")
    return status


def _task(
    caller: _Caller, job: ClusterJob, name: str, rank: int, local: int, words: Sequence[str],
    label: bool,
) -> Task:  # fmt: skip
    variables = task_environment(caller.world, job, name, local)
    variables |= {"SLURM_PROCID": str(rank), "SLURM_STEP_ID": "0", "SLURM_STEPID": "0"}
    run = ["/bin/sh", "-c", _NOT_FOUND.format(node=name), "slurmstepd", *words]
    there = caller.world.nodes[name]
    if there is caller.here:
        assigned = [f"{key}={value}" for key, value in variables.items()]
        run = ["/usr/bin/env", *assigned, *run]
    else:
        line = words[2] if words[:2] in (["sh", "-c"], ["bash", "-c"]) else shlex.join(words)
        run = words_on(there, caller.here, line, variables)
    failed = f"srun: error: {name}: task {rank}: Exited with exit code $s"
    return Task(
        run, f"{rank}: " if label else "", failed, f"srun: error: {name}: task {rank}: Killed"
    )


def _nodes(job: ClusterJob, options: Mapping[str, str]) -> list[str]:
    """The nodes of a step of an allocation: all, or as many as are asked for."""
    names = list(job.nodes)
    if "nodelist" in options:
        wanted = expand(options["nodelist"])
        names = [name for name in names if name in wanted] or names
    if options.get("nodes", "").isdecimal():
        names = names[: int(options["nodes"])]
    return names


def _allocation(world: World, number: str) -> ClusterJob | None:
    """The job that the caller is within."""
    job = world.cluster.jobs.get(int(number)) if number.isdecimal() else None
    return job if job is not None and job.is_placed else None


def _allocate(caller: _Caller, program: str, options: Mapping[str, str], name: str) -> ClusterJob:
    """A job of its own, once it is placed."""
    request = request_of(caller.world, options, caller.cwd)
    request = replace(request, batch=False, real=True)
    title = options.get("job-name", name)
    job = caller.world.cluster.submit(title, caller.user, request)
    if job.phase is not Phase.PENDING:
        return job
    if program == "salloc":
        caller.err.write(f"salloc: Pending job allocation {job.number}\n")
    caller.err.write(f"{program}: job {job.number} queued and waiting for resources\n")
    while job.phase is Phase.PENDING:
        caller.pause(_LOOKS_EVERY_US)
    if not job.is_placed:
        raise RefusedError("Job/step already completing or completed")
    caller.err.write(f"{program}: job {job.number} has been allocated resources\n")
    return job


def _refuse(program: str, refused: RefusedError, options: Mapping[str, str], err: TextIO) -> int:
    if str(refused) == BAD_PARTITION:
        err.write(f"{program}: error: invalid partition specified: {options['partition']}\n")
    does = "Unable to allocate resources" if program == "srun" else "Job submit/allocate failed"
    err.write(f"{program}: error: {does}: {refused}\n")
    return 1


@command("salloc", latency_us=50_000)
def salloc(
    argv: Sequence[str], node: Node, world: World, user: str, cwd: str, env: Mapping[str, str],
    spawn: Spawn, pause: Callable[[int], None], out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Take an allocation, and run a command or a shell within it."""
    try:
        options, words = OPTIONS.parse(argv, stops=True)
        if "version" in options:
            return print_version(out)
        if not answers(world):
            err.write(f"salloc: error: Job submit/allocate failed: {NO_CONTROLLER}\n")
            return 1
        caller = _Caller(world, node, user, cwd, pause, err)
        name = "no-shell" if "no-shell" in options else "interactive"
        job = _allocate(caller, "salloc", options, name)
    except UsageError as error:
        return usage("salloc", error, err)
    except RefusedError as refused:
        return _refuse("salloc", refused, options, err)
    err.write(f"salloc: Granted job allocation {job.number}\n")
    if "no-shell" in options:
        return 0
    variables = [f"{key}={value}" for key, value in job_environment(world, job).items()]
    run = words or [env.get("SHELL", "/bin/sh")]
    status = spawn(["/usr/bin/env", *variables, *run], None) or 0
    err.write(f"salloc: Relinquishing job allocation {job.number}\n")
    world.cluster.finish(job, status)
    return status
