"""``sacct``: what became of jobs, as the accounting has it (sacct(1))."""

from __future__ import annotations

import re
import time
from calendar import timegm
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.jobs.records import ClusterJob, Phase
from fakes.slurm.client import Options, UsageError, print_version, usage
from fakes.slurm.hostlist import HostlistError, expand
from fakes.slurm.jobs import JobView
from fakes.slurm.states import JOB_CODES, PARTITION, elapsed, limit, moment, run_time_s, unix_s
from fakes.slurm.users import user_number
from fakes.world import World

_OPTIONS = Options(
    flags={
        "X": "allocations", "n": "noheader", "P": "parsable2", "p": "parsable", "a": "allusers",
        "D": "duplicates", "L": "allclusters", "l": "long", "b": "brief", "T": "truncate",
        "v": "verbose", "V": "version", "B": "batch-script",
    },
    values={
        "j": "jobs", "o": "format", "S": "starttime", "E": "endtime", "u": "user", "s": "state",
        "N": "nodelist", "r": "partition", "A": "accounts", "M": "clusters", "q": "qos", "g": "gid",
        "k": "timelimit-min", "W": "wckeys", "C": "cluster",
    },
    long_values=("name", "units", "delimiter", "uid"),
    long_flags=("noconvert", "helpformat", "local", "federation"),
    long_optional=("json",),
)  # fmt: skip

_USUAL = "jobid,jobname,partition,account,alloccpus,state,exitcode"
_BRIEF = "jobid,state,exitcode"
_FORM = re.compile(r"([A-Za-z]+)(?:%(-?\d+))?")
_RELATIVE = re.compile(r"now(?:-(\d+)(second|minute|hour|day|week)s?)?")
_UNIT_S = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_DATES = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d", "%m/%d/%y", "%m/%d/%y-%H:%M:%S")


@dataclass(frozen=True, slots=True)
class _Row:
    """A job, or one of its steps (``batch``, ``extern``, or the number of one)."""

    view: JobView
    step: str = ""

    @property
    def job(self) -> ClusterJob:
        return self.view.job


@dataclass(frozen=True, slots=True)
class _Field:
    heading: str
    width: int
    text: Callable[[_Row], str]


@command("sacct", latency_us=80_000)
def main(
    argv: Sequence[str], world: World, user: str, is_privileged: bool, out: TextIO, err: TextIO
) -> int:
    """Print a line a job, and one for each of its steps unless ``-X`` is given."""
    try:
        options, _ = _OPTIONS.parse(argv)
    except UsageError as error:
        return usage("sacct", error, err)
    if "version" in options:
        return print_version(out)
    if is_privileged:
        options.setdefault("allusers", "")
    if {"json", "helpformat", "long", "batch-script"} & options.keys():
        err.write("sacct: --json, --helpformat, -l and -B are not known here\n")
        return NOT_UNDERSTOOD
    columns = []
    form = options.get("format", _BRIEF if "brief" in options else _USUAL)
    for word in form.split(","):
        found = _FORM.fullmatch(word.strip())
        field = _FIELDS.get(found[1].lower()) if found else None
        if found is None or field is None:
            err.write(f'sacct: error: Invalid field requested: "{word}"\n')
            return 1
        columns.append((field, int(found[2] or field.width)))
    try:
        jobs = [job for job in world.cluster.jobs.values() if _is_meant(world, job, options, user)]
    except (HostlistError, ValueError) as error:
        err.write(f"sacct: error: {error}\n")
        return 1
    rows = [row for job in jobs for row in _rows(JobView(world, job), "allocations" in options)]
    if "noheader" not in options:
        _print_heading(columns, options, out)
    for row in rows:
        _print(columns, [field.text(row) for field, _ in columns], options, out)
    return 0


def _print_heading(
    columns: Sequence[tuple[_Field, int]], options: dict[str, str], out: TextIO
) -> None:
    _print(columns, [field.heading for field, _ in columns], options, out)
    if not {"parsable", "parsable2"} & options.keys():
        out.write(" ".join("-" * abs(width) for _, width in columns) + " \n")


def _print(
    columns: Sequence[tuple[_Field, int]], texts: Sequence[str], options: dict[str, str],
    out: TextIO,
) -> None:  # fmt: skip
    mark = options.get("delimiter", "|")
    if "parsable2" in options:
        out.write(mark.join(texts) + "\n")
    elif "parsable" in options:
        out.write("".join(f"{text}{mark}" for text in texts) + "\n")
    else:
        cells = [_cell(text, width) for text, (_, width) in zip(texts, columns, strict=True)]
        out.write(" ".join(cells) + " \n")


def _cell(text: str, width: int) -> str:
    """A text in its column: to the right, or to the left of a negative width; cut with a ``+``."""
    size = abs(width)
    cut = text if len(text) <= size else text[: size - 1] + "+"
    return cut.ljust(size) if width < 0 else cut.rjust(size)


def _rows(view: JobView, only_jobs: bool) -> list[_Row]:
    job = view.job
    rows = [_Row(view)]
    if only_jobs or job.phase is Phase.PENDING or job.started_us is None:
        return rows
    if job.request is None or job.request.batch:
        rows.append(_Row(view, "batch"))
    rows.append(_Row(view, "extern"))
    return [*rows, _Row(view, "0")] if job.request is None or not job.request.batch else rows


def _is_meant(world: World, job: ClusterJob, options: dict[str, str], user: str) -> bool:
    if "jobs" in options:
        if str(job.number) not in {one.split(".")[0] for one in options["jobs"].split(",")}:
            return False
    elif not {"allusers", "user"} & options.keys() and user != job.user:
        return False
    if "user" in options and job.user not in options["user"].split(","):
        return False
    if "name" in options and job.title not in options["name"].split(","):
        return False
    if "partition" in options and PARTITION not in options["partition"].split(","):
        return False
    states = options.get("state", "").upper().split(",")
    if "state" in options and not {JOB_CODES[job.phase], job.phase.value.upper()} & set(states):
        return False
    if "nodelist" in options and not set(expand(options["nodelist"])) & set(job.nodes):
        return False
    return _is_within(world, job, options)


def _is_within(world: World, job: ClusterJob, options: dict[str, str]) -> bool:
    """Whether it was there at any time from ``-S`` to ``-E``."""
    begins = _unix_s(world, options["starttime"]) if "starttime" in options else None
    ends = _unix_s(world, options["endtime"]) if "endtime" in options else None
    over = unix_s(world, job.ended_us) if job.ended_us is not None else None
    if begins is not None and over is not None and over < begins:
        return False
    return ends is None or unix_s(world, job.submitted_us) <= ends


def _unix_s(world: World, text: str) -> int:
    """A moment as sacct takes it. Raises ValueError."""
    now = unix_s(world, world.now_us)
    if (found := _RELATIVE.fullmatch(text.lower())) is not None:
        return now - int(found[1] or 0) * _UNIT_S[found[2] or "second"]
    midnight = now - now % 86_400
    if text.lower() in ("today", "midnight"):
        return midnight
    for form in _DATES:
        try:
            return timegm(time.strptime(text, form))
        except ValueError:
            continue
    if found := re.fullmatch(r"(\d\d?):(\d\d)(?::(\d\d))?", text):
        return midnight + int(found[1]) * 3600 + int(found[2]) * 60 + int(found[3] or 0)
    raise ValueError(f"Invalid time specification {text}")


# --- fields ---------------------------------------------------------------------------------------


def _id(row: _Row) -> str:
    return f"{row.job.number}.{row.step}" if row.step else str(row.job.number)


def _name(row: _Row) -> str:
    if row.step in ("batch", "extern"):
        return row.step
    if row.step and row.job.request is None:
        words: list[str] = next(iter(row.job.specs.values())).command.split()
        return words[0].rsplit("/", 1)[-1]
    return row.job.title


def _state(row: _Row) -> str:
    phase = row.job.phase
    if phase is Phase.CANCELLED:
        return "CANCELLED" if row.step else "CANCELLED by 0"
    if row.step == "extern" and phase in (Phase.FAILED, Phase.TIMEOUT):
        return "COMPLETED"
    return str(phase.value).upper()


def _exit(row: _Row) -> str:
    job = row.job
    if row.step == "extern":
        return "0:0"
    return f"{job.exit_code}:{15 if job.phase is Phase.CANCELLED and row.step else job.signal}"


def _of_job(text: Callable[[JobView], str]) -> Callable[[_Row], str]:
    """What only the job has, and its steps have not."""
    return lambda row: "" if row.step else text(row.view)


def _end(row: _Row) -> str:
    ended = row.job.ended_us
    return "Unknown" if ended is None else moment(row.view.world, ended)


def _start(row: _Row) -> str:
    start = row.view.start
    return "Unknown" if start == "N/A" else start


def _nodes(row: _Row) -> str:
    return (
        row.view.nodes.split(",")[0] if row.step == "batch" else row.view.nodes or "None assigned"
    )


def _tres(row: _Row) -> str:
    view = row.view
    gpus = sum(len(spec.gpus) for spec in view.job.specs.values())
    extra = f",gres/gpu={gpus}" if gpus else ""
    if row.job.phase is Phase.PENDING:
        return ""
    cpus, count, rest = view.tres.split(",mem=")[0], view.job.node_count, ""
    memory = view.tres.split("mem=")[1].split(",")[0]
    if not row.step:
        rest = f"billing={view.cpus},"
    return f"{rest}{cpus}{extra},mem={memory},node={count}"


_FIELDS: dict[str, _Field] = {
    "account": _Field("Account", 10, lambda row: ""),
    "alloccpus": _Field("AllocCPUS", 10, lambda row: str(row.view.cpus)),
    "allocnodes": _Field("AllocNodes", 10, lambda row: str(row.job.node_count)),
    "alloctres": _Field("AllocTRES", 10, _tres),
    "cluster": _Field("Cluster", 10, lambda row: "cluster"),
    "comment": _Field("Comment", 14, _of_job(lambda view: view.job.comment)),
    "cputime": _Field(
        "CPUTime", 10,
        lambda row: elapsed(run_time_s(row.view.world, row.job) * row.view.cpus, padded=True),
    ),
    "derivedexitcode": _Field("DerivedExitCode", 15, _of_job(lambda view: "0:0")),
    "elapsed": _Field(
        "Elapsed", 10, lambda row: elapsed(run_time_s(row.view.world, row.job), padded=True)
    ),
    "elapsedraw": _Field(
        "ElapsedRaw", 10, lambda row: str(run_time_s(row.view.world, row.job))
    ),
    "eligible": _Field(
        "Eligible", 19, lambda row: moment(row.view.world, row.job.submitted_us)
    ),
    "end": _Field("End", 19, _end),
    "exitcode": _Field("ExitCode", 8, _exit),
    "group": _Field("Group", 9, _of_job(lambda view: view.job.user)),
    "jobid": _Field("JobID", -12, _id),
    "jobidraw": _Field("JobIDRaw", -12, _id),
    "jobname": _Field("JobName", 10, _name),
    "maxrss": _Field("MaxRSS", 10, lambda row: ""),
    "ncpus": _Field("NCPUS", 10, lambda row: str(row.view.cpus)),
    "nnodes": _Field("NNodes", 8, lambda row: str(row.job.node_count)),
    "nodelist": _Field("NodeList", 15, _nodes),
    "ntasks": _Field("NTasks", 8, lambda row: str(row.view.tasks) if row.step else ""),
    "partition": _Field("Partition", 10, _of_job(lambda view: PARTITION)),
    "priority": _Field("Priority", 10, _of_job(lambda view: str(view.job.priority))),
    "qos": _Field("QOS", 10, _of_job(lambda view: "normal")),
    "reason": _Field("Reason", 22, _of_job(lambda view: view.job.reason or "None")),
    "reqcpus": _Field("ReqCPUS", 8, lambda row: str(row.view.cpus)),
    "reqnodes": _Field("ReqNodes", 8, _of_job(lambda view: str(view.job.node_count))),
    "reqtres": _Field("ReqTRES", 10, _of_job(lambda view: view.tres)),
    "restarts": _Field("Restarts", 8, _of_job(lambda view: str(view.job.requeues))),
    "start": _Field("Start", 19, _start),
    "state": _Field("State", 10, _state),
    "submit": _Field("Submit", 19, lambda row: moment(row.view.world, row.job.submitted_us)),
    "timelimit": _Field(
        "Timelimit", 10, _of_job(lambda view: limit(view.limit_s, padded=True))
    ),
    "uid": _Field("UID", 6, _of_job(lambda view: str(user_number(view.job.user)))),
    "user": _Field("User", 9, _of_job(lambda view: view.job.user)),
    "workdir": _Field("WorkDir", 20, _of_job(lambda view: view.work_dir)),
}  # fmt: skip
