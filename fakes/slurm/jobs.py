"""What squeue can say of jobs, by the letters of ``-o`` and the names of ``-O`` (squeue(1))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fakes.jobs.records import ClusterJob, Phase
from fakes.slurm.forms import Field
from fakes.slurm.hostlist import compress
from fakes.slurm.states import (
    JOB_CODES,
    MEMORY_MB,
    PARTITION,
    elapsed,
    job_cpus,
    job_reason,
    limit,
    moment,
    run_time_s,
)
from fakes.slurm.users import user_number
from fakes.world import World

_FIRST_PRIORITY = 4_294_901_760
"""priority/basic counts down from here, a job at a time."""

_USUAL_PRIORITY = 100


@dataclass(frozen=True, slots=True)
class JobView:
    """A job of a world."""

    world: World
    job: ClusterJob

    @property
    def limit_s(self) -> int | None:
        """How long it may run."""
        return self.job.request.limit_s if self.job.request else None

    @property
    def nodes(self) -> str:
        """Where it runs or ran: nothing while it waits."""
        return "" if self.job.phase is Phase.PENDING else compress(self.job.nodes)

    @property
    def cpus(self) -> int:
        """How many CPUs it has, or wants, in all."""
        node = next(iter(self.world.nodes.values()))
        return job_cpus(self.job, node) * self.job.node_count

    @property
    def tasks(self) -> int:
        """How many processes it starts, in all."""
        request = self.job.request
        per_node = request.tasks if request else max(self.job.gpus_per_node, 1)
        return per_node * self.job.node_count

    @property
    def tres_per_node(self) -> str:
        """The GPUs that it wants on each node."""
        count = self.job.gpus_per_node
        return f"gres:gpu:{count}" if count else "N/A"

    @property
    def tres(self) -> str:
        """Everything that it has, or wants."""
        count = self.job.node_count
        memory = mebibytes(MEMORY_MB * count)
        return f"cpu={self.cpus},mem={memory},node={count},billing={self.cpus}"

    @property
    def end(self) -> str:
        """When it ends, or ended."""
        if self.job.ended_us is not None:
            return moment(self.world, self.job.ended_us)
        if self.job.started_us is None or self.limit_s is None:
            return "N/A" if self.job.held else "NONE"
        return moment(self.world, self.job.started_us + self.limit_s * 1_000_000)

    @property
    def start(self) -> str:
        """When it began."""
        return "N/A" if self.job.started_us is None else moment(self.world, self.job.started_us)

    @property
    def work_dir(self) -> str:
        """Where it works."""
        return self.job.request.work_dir if self.job.request else f"/home/{self.job.user}"

    def output(self, *, error: bool = False) -> str:
        """The file that its output goes to."""
        request = self.job.request
        form = request.output if request else "slurm-%j.out"
        form = request.error if request and error and request.error else form
        return file_name(form, self.job, self.work_dir)


def file_name(form: str, job: ClusterJob, work_dir: str) -> str:
    """A job's file by sbatch's pattern: ``%j`` the number, ``%x`` the name, ``%N`` the node."""
    node = job.nodes[0] if job.nodes else ""
    for code, text in (
        ("%j", str(job.number)), ("%J", str(job.number)), ("%A", str(job.number)), ("%a", "0"),
        ("%x", job.title), ("%N", node), ("%u", job.user), ("%n", "0"), ("%t", "0"),
    ):  # fmt: skip
        form = form.replace(code, text)
    return form if form.startswith("/") else f"{work_dir.rstrip('/')}/{form}"


def priority_of(job: ClusterJob) -> int:
    """The number that priority/basic gives, or somebody gave."""
    if job.held:
        return 0
    return job.priority if job.priority != _USUAL_PRIORITY else _FIRST_PRIORITY - job.number


def mebibytes(number: int) -> str:
    """Memory as Slurm writes it: in gibibytes where no more than a half is left over.

    >>> mebibytes(2_000_000), mebibytes(8_000_000)
    ('2000000M', '7812.50G')
    """
    return f"{number}M" if number % 512 else f"{number / 1024:.2f}G"


def _left(view: JobView) -> str:
    if view.limit_s is None:
        return "UNLIMITED"
    return elapsed(max(view.limit_s - run_time_s(view.world, view.job), 0))


def _where(view: JobView) -> str:
    return view.nodes if view.job.phase is not Phase.PENDING else f"({job_reason(view.job)})"


def _host(view: JobView) -> str:
    return view.job.nodes[0] if view.job.nodes and view.job.phase is not Phase.PENDING else "n/a"


def _shares(view: JobView) -> str:
    return "NO" if view.job.request and view.job.request.exclusive else "OK"


def _wanted(view: JobView) -> str:
    return compress(view.job.request.wanted) if view.job.request else ""


def _excluded(view: JobView) -> str:
    return compress(view.job.request.excluded) if view.job.request else ""


def _command(view: JobView) -> str:
    return (view.job.request.command if view.job.request else "") or "(null)"


def _always(text: str) -> Callable[[JobView], str]:
    return lambda view: text


def _number(view: JobView) -> str:
    return str(view.job.number)


JOB_FIELDS: dict[str, Field[JobView]] = {
    "a": Field("ACCOUNT", _always("(null)")),
    "b": Field("TRES_PER_NODE", lambda view: view.tres_per_node),
    "c": Field("MIN_CPUS", lambda v: str(v.job.request.cpus_per_task if v.job.request else 1)),
    "d": Field("MIN_TMP_DISK", _always("0")),
    "e": Field("END_TIME", lambda view: view.end),
    "f": Field("FEATURES", _always("(null)")),
    "g": Field("GROUP", lambda view: view.job.user),
    "h": Field("OVER_SUBSCRIBE", _shares),
    "i": Field("JOBID", _number),
    "j": Field("NAME", lambda view: view.job.title),
    "k": Field("COMMENT", lambda view: view.job.comment or "(null)"),
    "l": Field("TIME_LIMIT", lambda view: limit(view.limit_s)),
    "m": Field("MIN_MEMORY", _always("0")),
    "n": Field("REQ_NODES", _wanted),
    "o": Field("COMMAND", _command),
    "p": Field("PRIORITY", lambda view: f"{priority_of(view.job) / 2**32:.14f}"),
    "q": Field("QOS", _always("(null)")),
    "r": Field("REASON", lambda view: job_reason(view.job)),
    "s": Field("", _always("")),
    "t": Field("ST", lambda view: JOB_CODES[view.job.phase]),
    "u": Field("USER", lambda view: view.job.user),
    "v": Field("RESERVATION", _always("(null)")),
    "w": Field("WCKEY", _always("(null)")),
    "x": Field("EXC_NODES", _excluded),
    "y": Field("NICE", _always("0")),
    "z": Field("S:C:T", _always("*:*:*")),
    "A": Field("JOBID", _number),
    "B": Field("EXEC_HOST", _host),
    "C": Field("CPUS", lambda view: str(view.cpus)),
    "D": Field("NODES", lambda view: str(view.job.node_count)),
    "E": Field("DEPENDENCY", _always("(null)")),
    "F": Field("ARRAY_JOB_ID", _number),
    "G": Field("GROUP", lambda view: str(user_number(view.job.user))),
    "H": Field("SOCKETS_PER_NODE", _always("*")),
    "I": Field("CORES_PER_SOCKET", _always("*")),
    "J": Field("THREADS_PER_CORE", _always("*")),
    "K": Field("ARRAY_TASK_ID", _always("N/A")),
    "L": Field("TIME_LEFT", _left),
    "M": Field("TIME", lambda view: elapsed(run_time_s(view.world, view.job))),
    "N": Field("NODELIST", lambda view: view.nodes),
    "O": Field("CONTIGUOUS", _always("0")),
    "P": Field("PARTITION", _always(PARTITION)),
    "Q": Field("PRIORITY", lambda view: str(priority_of(view.job))),
    "R": Field("NODELIST(REASON)", _where),
    "S": Field("START_TIME", lambda view: view.start),
    "T": Field("STATE", lambda view: view.job.phase.value.upper()),
    "U": Field("UID", lambda view: str(user_number(view.job.user))),
    "V": Field("SUBMIT_TIME", lambda view: moment(view.world, view.job.submitted_us)),
    "W": Field("LICENSES", _always("(null)")),
    "X": Field("CORE_SPEC", _always("N/A")),
    "Y": Field("SCHEDNODES", _always("(null)")),
    "Z": Field("WORK_DIR", lambda view: view.work_dir),
}

_LETTERS = {
    "account": "a", "tres-per-node": "b", "gres": "b", "mincpus": "c", "mintmpdisk": "d",
    "endtime": "e", "feature": "f", "features": "f", "groupname": "g", "oversubscribe": "h",
    "jobid": "A", "name": "j", "comment": "k", "timelimit": "l", "minmemory": "m", "reqnodes": "n",
    "command": "o", "priority": "p", "qos": "q", "reason": "r", "statecompact": "t",
    "username": "u", "reservation": "v", "wckey": "w", "excnodes": "x", "nice": "y", "sct": "z",
    "jobarrayid": "i", "batchhost": "B", "numcpus": "C", "numnodes": "D", "dependency": "E",
    "arrayjobid": "F", "groupid": "G", "arraytaskid": "K", "timeleft": "L", "timeused": "M",
    "nodelist": "N", "nodes": "N", "contiguous": "O", "partition": "P", "prioritylong": "Q",
    "reasonlist": "R", "starttime": "S", "state": "T", "userid": "U", "submittime": "V",
    "licenses": "W", "corespec": "X", "schednodes": "Y", "workdir": "Z",
}  # fmt: skip

JOB_LONG_FIELDS: dict[str, Field[JobView]] = {
    **{name: JOB_FIELDS[letter] for name, letter in _LETTERS.items()},
    "eligibletime": Field("ELIGIBLE_TIME", lambda v: moment(v.world, v.job.submitted_us)),
    "exit_code": Field("EXIT_CODE", lambda view: str(view.job.exit_code)),
    "numtasks": Field("TASKS", lambda view: str(view.tasks)),
    "requeue": Field("REQUEUE", lambda view: str(int(view.job.requeueable))),
    "restartcnt": Field("RESTART_COUNT", lambda view: str(view.job.requeues)),
    "stderr": Field("STDERR", lambda view: view.output(error=True)),
    "stdout": Field("STDOUT", lambda view: view.output()),
    "tres-alloc": Field("TRES_ALLOC", lambda view: view.tres),
    "tres": Field("TRES", lambda view: view.tres),
}
