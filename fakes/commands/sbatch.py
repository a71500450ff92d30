"""``sbatch``: submits a script, which runs when there is room for it (sbatch(1)).

Where the caller is a program of the run, the script really runs, on the job's first node; elsewhere
it is taken to run for as long as it sleeps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from fakes.clock import SECOND_US
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.jobs.records import ClusterJob, Phase
from fakes.slurm.client import NO_CONTROLLER, UsageError, answers, print_version
from fakes.slurm.submit import (
    BAD_PARTITION,
    OPTIONS,
    UNAVAILABLE,
    RefusedError,
    directives,
    is_script,
    request_of,
    with_script,
)
from fakes.world import World

_BAD_USAGE = 255
_NO_SCRIPT = (
    "sbatch: error: This does not look like a batch script.  The first\n"
    "sbatch: error: line must start with #! followed by the path to an interpreter.\n"
    "sbatch: error: For instance: #!/bin/sh\n"
)
_IN_THE_BACKGROUND = 'setsid slurmstepd "$1" </dev/null >/dev/null 2>&1 &'


@command("sbatch", latency_us=30_000)
def main(
    argv: Sequence[str], world: World, user: str, cwd: str, env: Mapping[str, str],
    stdin: TextIO | None, read_file: Callable[[str], str],
    spawn: Callable[[Sequence[str], int | None], int | None], pause: Callable[[int], None],
    out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Submit it, and tell its number."""
    try:
        options, words = OPTIONS.parse(argv, stops=True)
    except UsageError as error:
        return _usage(error, err)
    if "version" in options:
        return print_version(out)
    script, command_name = "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n", ""
    if "wrap" in options:
        script += options["wrap"] + "\n"
    elif words:
        command_name = words[0] if words[0].startswith("/") else f"{cwd.rstrip('/')}/{words[0]}"
        try:
            script = read_file(words[0])
        except OSError:
            err.write(f"sbatch: error: Unable to open file {words[0]}\n")
            return 1
    else:
        script = stdin.read() if stdin else ""
    if not is_script(script):
        err.write(_NO_SCRIPT)
        return 1
    if not answers(world):
        err.write(f"sbatch: error: Batch job submission failed: {NO_CONTROLLER}\n")
        return 1
    try:
        written, _ = OPTIONS.parse(directives(script))
        options = {**written, **options}
        request = request_of(world, options, cwd)
    except UsageError as error:
        return _usage(error, err)
    except RefusedError as refused:
        if str(refused) == UNAVAILABLE:
            world.cluster.skip_number()
        return _refuse(refused, options, err)
    if unknown := {"array", "dependency", "begin"} & options.keys():
        err.write(f"sbatch: --{min(unknown)}: this option is not known here\n")
        return NOT_UNDERSTOOD
    name = options.get("job-name") or ("wrap" if not words else words[0].rsplit("/", 1)[-1])
    if "test-only" in options:
        err.write(f"sbatch: Job {max(world.cluster.jobs, default=1000) + 1} to start at once\n")
        return 0
    request = with_script(request, script, command_name, real=True)
    job = world.cluster.submit(name, user, request, held="hold" in options)
    job.comment = options.get("comment", "")
    job.requeueable = "no-requeue" not in options
    _run(job, world, spawn)
    if "parsable" in options:
        out.write(f"{job.number}\n")
    elif "quiet" not in options:
        out.write(f"Submitted batch job {job.number}\n")
    if "wait" in options:
        while job.is_active:
            pause(SECOND_US)
        return job.exit_code if job.phase in (Phase.COMPLETED, Phase.FAILED) else 1
    return 0


def _run(
    job: ClusterJob, world: World, spawn: Callable[[Sequence[str], int | None], int | None]
) -> None:
    """Leave a program behind that runs the script in its time; without one it is only modelled."""
    try:
        spawn(["/bin/sh", "-c", _IN_THE_BACKGROUND, "sbatch", str(job.number)], None)
    except LookupError:
        world.cluster.model(job)


def _usage(error: UsageError, err: TextIO) -> int:
    if str(error).startswith("error:"):
        err.write(f"sbatch: {error}\n")
    else:
        err.write(f'sbatch: {error}\nTry "sbatch --help" for more information\n')
    return _BAD_USAGE


def _refuse(refused: RefusedError, options: Mapping[str, str], err: TextIO) -> int:
    if str(refused) == BAD_PARTITION:
        err.write(f"sbatch: error: invalid partition specified: {options['partition']}\n")
    elif str(refused) == UNAVAILABLE and "mem" in options and "gres" not in options:
        err.write("sbatch: error: Memory specification can not be satisfied\n")
    err.write(f"sbatch: error: Batch job submission failed: {refused}\n")
    return 1
