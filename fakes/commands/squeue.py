"""``squeue``, ``scancel``: jobs that wait or run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TextIO

from fakes.cluster import ClusterJob, Phase, UnknownError
from fakes.commands.options import UnknownOptionError, parse
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.slurm import JOB_CODES, HostlistError, compress, expand, job_reason
from fakes.world import World

_FLAGS = {"h": "noheader", "l": "long", "a": "all", "s": "steps", "r": "array", "v": "verbose"}
_VALUES = {
    "o": "format", "u": "user", "w": "nodelist", "t": "states", "j": "jobs", "n": "name",
    "p": "partition", "O": "Format", "S": "sort", "A": "account", "q": "qos", "i": "iterate",
}  # fmt: skip
_FIELD = re.compile(r"%(\.?)(\d*)([A-Za-z%])")
_HEADS = {
    "i": "JOBID", "A": "JOBID", "P": "PARTITION", "j": "NAME", "u": "USER", "t": "ST", "T": "STATE",
    "M": "TIME", "D": "NODES", "R": "NODELIST(REASON)", "N": "NODELIST", "r": "REASON",
    "Q": "PRIORITY", "b": "TRES_PER_NODE", "l": "TIME_LIMIT", "a": "ACCOUNT", "q": "QOS",
    "B": "EXEC_HOST", "k": "COMMENT", "U": "UID", "C": "CPUS",
}  # fmt: skip
_USUAL = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"


@command("squeue", latency_us=20_000)
def main(argv: Sequence[str], world: World, out: TextIO, err: TextIO) -> int:
    """Print a line a job."""
    try:
        options, _ = parse(argv, _FLAGS, _VALUES, ("json",), ("me", "start"))
        jobs = [job for job in world.cluster.jobs.values() if _is_meant(job, options)]
    except UnknownOptionError as error:
        err.write(f"squeue: {error}\n")
        return NOT_UNDERSTOOD
    except HostlistError:
        err.write("squeue: error: Invalid node list\n")
        return 1
    form = options.get("format", _USUAL)
    if unknown := [letter for _, _, letter in _FIELD.findall(form) if letter not in {*_HEADS, "%"}]:
        err.write(f"squeue: %{unknown[0]}: this field is not known here\n")
        return NOT_UNDERSTOOD
    if "noheader" not in options:
        out.write(_filled(form, _HEADS) + "\n")
    out.writelines(_filled(form, _fields(world, job)) + "\n" for job in jobs)
    return 0


@command("scancel", latency_us=20_000)
def cancel(argv: Sequence[str], world: World, user: str, err: TextIO) -> int:
    """End jobs by number, name, user or node."""
    flags = {"Q": "quiet", "v": "verbose", "f": "full", "b": "batch", "i": "interactive"}
    values = {
        "n": "name", "u": "user", "w": "nodelist", "t": "state", "s": "signal", "p": "partition",
    }  # fmt: skip
    try:
        options, names = parse(argv, flags, values, ("reservation",), ("me",))
    except UnknownOptionError as error:
        err.write(f"scancel: {error}\n")
        return NOT_UNDERSTOOD
    cluster = world.cluster
    for name in names:
        try:
            cluster.cancel(name)
        except UnknownError:
            err.write(
                f"scancel: error: Kill job error on job id {name}: Invalid job id specified\n"
            )
            return 1
    if options.keys() & {"name", "user", "nodelist", "me"}:
        wanted = dict(options)
        if "me" in wanted:
            wanted["user"] = user
        for job in [job for job in cluster.jobs.values() if _is_meant(job, wanted)]:
            cluster.cancel(str(job.number))
    return 0


def _is_meant(job: ClusterJob, options: dict[str, str]) -> bool:
    states = {state.upper() for state in options.get("states", "PD,R").split(",")}
    word, code = job.phase.value.upper(), JOB_CODES[job.phase]
    if not states & {word, code, "ALL"}:
        return False
    if "user" in options and job.user not in options["user"].split(","):
        return False
    if "name" in options and job.id not in options["name"].split(","):
        return False
    if "jobs" in options and str(job.number) not in options["jobs"].split(","):
        return False
    if "nodelist" in options:
        on = set(expand(options["nodelist"])) & set(job.nodes)
        return bool(on) and job.phase is Phase.RUNNING
    return True


def _fields(world: World, job: ClusterJob) -> dict[str, str]:
    running = job.phase is Phase.RUNNING
    nodes = compress(job.nodes) if running else ""
    count = len(next(iter(job.specs.values())).gpus)
    elapsed_s = 0
    if running and job.started_us is not None:
        elapsed_s = (world.now_us - job.started_us) // 1_000_000
    return {
        "i": str(job.number), "A": str(job.number), "P": "batch", "j": job.id, "u": job.user,
        "t": JOB_CODES[job.phase], "T": job.phase.value.upper(), "M": _elapsed(elapsed_s),
        "D": str(len(job.specs)), "R": nodes if running else f"({job_reason(job)})", "N": nodes,
        "r": job_reason(job), "Q": str(job.priority), "b": f"gres:gpu:{count}", "l": "UNLIMITED",
        "a": "(null)", "q": "normal", "B": job.nodes[0] if running else "n/a", "k": "(null)",
        "U": "1000", "C": str(192 * len(job.specs)),
    }  # fmt: skip


def _elapsed(seconds: int) -> str:
    """Slurm's form: ``1-02:03:04``, ``2:03:04``, ``3:04``."""
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if days:
        return f"{days}-{hour:02}:{minute:02}:{second:02}"
    return f"{hour}:{minute:02}:{second:02}" if hour else f"{minute}:{second:02}"


def _filled(form: str, fields: dict[str, str]) -> str:
    def shown(found: re.Match[str]) -> str:
        if found[3] == "%":
            return "%"
        width = int(found[2] or 0)
        text = fields.get(found[3], "")
        cut = text[:width] if width else text
        return cut.rjust(width) if found[1] else cut.ljust(width)

    return _FIELD.sub(shown, form)
