"""``scancel``: ends jobs, or sends them a signal (scancel(1))."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.jobs.cluster import Cluster
from fakes.jobs.records import ClusterJob
from fakes.slurm.client import AnsweredError, Options, asked
from fakes.slurm.hostlist import HostlistError, expand
from fakes.slurm.states import JOB_CODES
from fakes.slurm.users import is_user
from fakes.world import World

_OPTIONS = Options(
    flags={
        "Q": "quiet", "v": "verbose", "f": "full", "b": "batch", "i": "interactive", "V": "version",
        "H": "hurry",
    },
    values={
        "n": "name", "u": "user", "w": "nodelist", "t": "state", "s": "signal", "p": "partition",
        "A": "account", "q": "qos", "R": "reservation", "M": "clusters",
    },
    long_flags=("me", "cron"),
    long_values=("jobname", "wckey", "sibling"),
)  # fmt: skip
_CHOOSES = frozenset({"name", "jobname", "user", "nodelist", "state", "partition", "me"})
_ENDS = frozenset({"KILL", "SIGKILL", "9", "TERM", "SIGTERM", "15", "INT", "SIGINT", "2"})


@command("scancel", latency_us=20_000)
def main(
    argv: Sequence[str], world: World, user: str, is_privileged: bool, out: TextIO, err: TextIO
) -> int:
    """End jobs by number, name, user, node or state."""
    try:
        options, words = asked("scancel", _OPTIONS, argv, world, out, err, fails="scancel: error")
    except AnsweredError as error:
        return error.status
    if not words and not _CHOOSES & options.keys():
        err.write("scancel: error: No job identification provided\n")
        return 1
    if "me" in options:
        options["user"] = user
    if "user" in options and not is_user(world.cluster, options["user"]):
        err.write(f"scancel: error: Invalid user name: {options['user']}\n")
        return 1
    number = options.get("signal", "KILL").upper()
    if number not in _ENDS and number not in ("0", "USR1", "SIGUSR1", "10", "USR2", "SIGUSR2"):
        err.write(f"scancel: -s {number}: this signal is not known here\n")
        return NOT_UNDERSTOOD
    numbers = {part for word in words for part in word.split(",")}
    for word in numbers:
        if not word.split("_")[0].split(".")[0].isdecimal():
            err.write(f"scancel: error: Invalid job id {word}\n")
            return 1
    try:
        chosen = _chosen(world.cluster, options, numbers)
    except HostlistError:
        err.write(f"scancel: error: Invalid node list: {options['nodelist']}\n")
        return 1
    if not is_privileged and any(job.user != user for job in chosen):
        for job in chosen:
            err.write(
                f"scancel: error: Kill job error on job id {job.number}: Access/permission denied\n"
            )
        return 1
    for job in chosen:
        if number in _ENDS:
            world.cluster.cancel(str(job.number))
    return 0


def _chosen(cluster: Cluster, options: dict[str, str], numbers: set[str]) -> list[ClusterJob]:
    """Those that are named and are all that the options say."""
    jobs = [job for job in cluster.jobs.values() if job.is_active]
    if numbers:
        ids = {word.split("_")[0].split(".")[0] for word in numbers}
        jobs = [job for job in jobs if str(job.number) in ids]
    if name := options.get("name", options.get("jobname")):
        jobs = [job for job in jobs if job.title in name.split(",")]
    if "user" in options:
        jobs = [job for job in jobs if job.user == options["user"]]
    if "state" in options:
        states = options["state"].upper().split(",")
        jobs = [
            job
            for job in jobs
            if JOB_CODES[job.phase] in states or job.phase.value.upper() in states
        ]
    if "nodelist" in options:
        wanted = set(expand(options["nodelist"]))
        jobs = [job for job in jobs if job.is_placed and wanted & set(job.nodes)]
    return jobs
