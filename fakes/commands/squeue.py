"""``squeue``: jobs that wait or run, and those that ended of late (squeue(1))."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.jobs.records import ClusterJob, Phase
from fakes.slurm.as_json import jobs_object
from fakes.slurm.client import AnsweredError, Options, asked
from fakes.slurm.forms import Form, UnknownFieldError, every, long_form, short_form
from fakes.slurm.hostlist import HostlistError, expand
from fakes.slurm.jobs import JOB_FIELDS, JOB_LONG_FIELDS, JobView, priority_of
from fakes.slurm.states import JOB_CODES, PARTITION, heading_date
from fakes.slurm.steps import STEP_FIELDS, steps_of
from fakes.slurm.users import is_user
from fakes.world import World

_OPTIONS = Options(
    flags={
        "h": "noheader", "l": "long", "a": "all", "s": "steps", "r": "array", "v": "verbose",
        "V": "version", "P": "priority",
    },
    values={
        "o": "format", "u": "user", "w": "nodelist", "t": "states", "j": "jobs", "n": "name",
        "p": "partition", "O": "Format", "S": "sort", "A": "account", "q": "qos", "i": "iterate",
        "M": "clusters", "L": "licenses", "R": "reservation",
    },
    long_flags=("me", "start", "hide", "array-unique", "noconvert", "local", "federation"),
    long_optional=("json", "yaml"),
)  # fmt: skip

_USUAL = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R"
_LONG = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R"
_START = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R"
_STEPS = "%.15i %.8j %.9P %.8u %.9M %N"

_ORDER = list(Phase)
_SORTS = {
    "i": lambda view: view.job.number,
    "j": lambda view: view.job.title,
    "u": lambda view: view.job.user,
    "t": lambda view: _ORDER.index(view.job.phase),
    "T": lambda view: _ORDER.index(view.job.phase),
    "p": lambda view: priority_of(view.job),
    "Q": lambda view: priority_of(view.job),
    "M": lambda view: view.job.started_us or 0,
    "S": lambda view: view.job.started_us or 0,
    "V": lambda view: view.job.submitted_us,
    "N": lambda view: view.nodes,
    "D": lambda view: view.job.node_count,
    "P": lambda view: PARTITION,
}

_STATES = (
    "PENDING,RUNNING,SUSPENDED,COMPLETED,CANCELLED,FAILED,TIMEOUT,NODE_FAIL,PREEMPTED,BOOT_FAIL,"
    "DEADLINE,OUT_OF_MEMORY,COMPLETING,CONFIGURING,RESIZING,RESV_DEL_HOLD,REQUEUED,REQUEUE_FED,"
    "REQUEUE_HOLD,REVOKED,SIGNALING,SPECIAL_EXIT,STAGE_OUT,STOPPED"
)
_CODES = frozenset(
    {
        *("PD", "R", "S", "CD", "CA", "F", "TO", "NF", "PR", "BF", "DL", "OOM", "CG", "CF"),
        *("RS", "RD", "RQ", "RF", "RH", "RV", "SI", "SE", "SO", "ST"),
    }
)


class _RefusedError(Exception):
    """What the real command says no to, in its words."""


@command("squeue", latency_us=20_000)
def main(argv: Sequence[str], world: World, user: str, out: TextIO, err: TextIO) -> int:
    """Print a line a job."""
    try:
        options, _ = asked("squeue", _OPTIONS, argv, world, out, err, fails="slurm_load_jobs error")
    except AnsweredError as error:
        return error.status
    if "me" in options:
        options["user"] = user
    try:
        views = [JobView(world, job) for job in chosen_jobs(world, options, err)]
    except _RefusedError as error:
        err.write(f"{error}\n")
        return 1
    _sort(views, options.get("sort", "t,-p"))
    if "json" in options:
        jobs = [view.job for view in views]
        out.write(json.dumps(jobs_object(world, jobs), indent=2) + "\n")
        return 0
    if "steps" in options:
        return _print_steps(options, views, out, err)
    form = _form(options, err)
    if form is None:
        return 0
    if "noheader" not in options:
        if "long" in options and not {"format", "Format"} & options.keys():
            out.write(heading_date(world) + "\n")
        out.write(form.heading + "\n")
    out.writelines(form.line(view) + "\n" for view in views)
    return 0


def _form(options: dict[str, str], err: TextIO) -> Form[JobView] | None:
    """How it is to be printed; None if there is no such field."""
    if "Format" in options:
        if options["Format"].lower() == "all":
            return every(JOB_FIELDS)
        try:
            return long_form(options["Format"], JOB_LONG_FIELDS)
        except UnknownFieldError as error:
            err.write(f"squeue: error: Invalid job format specification: {error}\n")
            return None
    usual = _START if "start" in options else _LONG if "long" in options else _USUAL
    form, unknown = short_form(options.get("format", usual), JOB_FIELDS)
    for letter in unknown:
        err.write(f"squeue: error: Invalid job format specification: {letter}\n")
    return form


def _print_steps(
    options: dict[str, str], views: Sequence[JobView], out: TextIO, err: TextIO
) -> int:
    form, unknown = short_form(options.get("format", _STEPS), STEP_FIELDS)
    if unknown:
        err.write(f"squeue: %{unknown[0]} of a step is not known here\n")
        return NOT_UNDERSTOOD
    if "noheader" not in options:
        out.write(form.heading + "\n")
    for view in views:
        out.writelines(form.line(step) + "\n" for step in steps_of(view))
    return 0


def chosen_jobs(world: World, options: dict[str, str], err: TextIO) -> list[ClusterJob]:
    """The jobs that the options name, as squeue and scancel take them."""
    jobs = list(world.cluster.jobs.values())
    if "jobs" in options:
        numbers = {word.split(".")[0].split("_")[0] for word in options["jobs"].split(",")}
        for word in numbers:
            if not word.isdecimal():
                raise _RefusedError(f"squeue: error: Invalid job id: {word}")
        jobs = [job for job in jobs if str(job.number) in numbers]
        if not jobs and len(numbers) == 1:
            raise _RefusedError("slurm_load_jobs error: Invalid job id specified")
    states = _states(options.get("states", "PD,R,S"))
    jobs = [job for job in jobs if "ALL" in states or JOB_CODES[job.phase] in states]
    if "user" in options:
        users = options["user"].split(",")
        jobs = [job for job in jobs if job.user in users]
        for name in users:
            if not is_user(world.cluster, name):
                err.write(f"squeue: error: Invalid user: {name}\n\n")
    if "name" in options:
        jobs = [job for job in jobs if job.title in options["name"].split(",")]
    if "partition" in options and PARTITION not in options["partition"].split(","):
        return []
    if "nodelist" in options:
        wanted = _nodes(world, options["nodelist"])
        jobs = [job for job in jobs if job.is_placed and wanted & set(job.nodes)]
    return jobs


def _nodes(world: World, text: str) -> set[str]:
    try:
        wanted = set(expand(text))
    except HostlistError as error:
        raise _RefusedError(f"squeue: error: Invalid node name {text}") from error
    for name in wanted:
        if name not in world.cluster.nodes:
            raise _RefusedError(f"squeue: error: Invalid node name {name}")
    return wanted


def _states(text: str) -> set[str]:
    """The codes of states that are given by word or code, in any case."""
    words = {phase.value.upper(): code for phase, code in JOB_CODES.items()}
    found = set()
    for given in text.split(","):
        state = given.upper()
        if state != "ALL" and state not in _CODES and state not in _STATES.split(","):
            raise _RefusedError(
                f"squeue: error: Invalid job state specified: {given}\n"
                f"squeue: error: Valid job states include: {_STATES}\n"
            )
        found.add(words.get(state, state))
    return found


def _sort(views: list[JobView], keys: str) -> None:
    """By the first key first; a key that is not known here leaves them as they are."""
    views.sort(key=lambda view: view.job.number)
    for key in reversed(keys.split(",")):
        letter = key.strip().lstrip("+-")
        if letter in _SORTS:
            views.sort(key=_SORTS[letter], reverse=key.strip().startswith("-"))
