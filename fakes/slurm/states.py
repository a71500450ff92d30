"""What Slurm calls the states of nodes and jobs, and how it writes times.

The words, the order of the flags and the short forms are those of sinfo(1), squeue(1) and
scontrol(1), and of a slurmctld 22.05.8 that was asked.
"""

from __future__ import annotations

import time

from fakes.jobs.cluster import Cluster
from fakes.jobs.records import ClusterJob, Phase
from fakes.node import Node
from fakes.world import World

VERSION = "23.11.4"
"""The Slurm of Ubuntu 24.04, whose ``--json`` scripts rely on."""

CPUS, SOCKETS, MEMORY_MB = 192, 2, 2_000_000
"""Of a node: two processors with 96 cores, as GPU servers have them."""

PARTITION = "batch"
CONTROLLER = "head"

_BITS = {"DRAIN": 0x200, "NOT_RESPONDING": 0x800, "FAIL": 0x2000, "RESERVED": 0x20,
         "MAINTENANCE": 0x8000, "REBOOT_REQUESTED": 0x10000, "REBOOT_ISSUED": 0x20000}  # fmt: skip
_BASES = {"DOWN": 1, "IDLE": 2, "ALLOCATED": 3, "MIXED": 5}


def states_of(world: World, name: str) -> list[str]:
    """A node's states in scontrol's words, the base state first: ``ALLOCATED``, ``DRAIN``."""
    node = world.nodes[name]
    return node_states(world.cluster, name, is_up=node.runs("slurmd.service"), node=node)


def node_states(cluster: Cluster, name: str, *, is_up: bool, node: Node | None = None) -> list[str]:
    """The same of a node that is up, or is not. Without ``node`` every job has it whole."""
    known = cluster.nodes[name]
    reboot, reservation = known.reboot, known.reservation
    booting = reboot is not None and reboot.issued and not is_up
    if known.down is not None or booting:
        words = ["DOWN"]
    elif not cluster.jobs_on(name):
        words = ["IDLE"]
    else:
        words = ["ALLOCATED" if node is None or cpus_used(cluster, node) == CPUS else "MIXED"]
    words += ["DRAIN"] if known.drain is not None else []
    words += ["FAIL"] if known.failing is not None else []
    words += ["MAINTENANCE"] if reservation and "MAINT" in reservation.flags else []
    if reboot is not None:
        words.append("REBOOT_ISSUED" if reboot.issued else "REBOOT_REQUESTED")
    words += ["RESERVED"] if reservation else []
    words += ["NOT_RESPONDING"] if not is_up and not booting else []
    return words


def state_order(words: list[str]) -> int:
    """By which sinfo sorts: higher ones come first."""
    return _BASES[words[0]] + sum(_BITS[word] for word in words[1:])


def short_state(words: list[str]) -> str:
    """The states as sinfo's %t writes them: ``drng*``."""
    base, flags = words[0], set(words[1:])
    busy = base in ("ALLOCATED", "MIXED")
    usual = {"ALLOCATED": "alloc", "MIXED": "mix", "IDLE": "idle", "DOWN": "down"}[base]
    star = "*" if "NOT_RESPONDING" in flags else ""
    if "REBOOT_ISSUED" in flags:
        return "boot^"
    mark = ""
    if "REBOOT_REQUESTED" in flags:
        if not busy:
            return "boot"
        mark = "@"
    if "MAINTENANCE" in flags:
        if base == "IDLE" and "DRAIN" not in flags:
            return f"maint{star}"
        mark = mark or "$"
    if "DRAIN" in flags:
        return ("drng" if busy else "drain") + (mark or star)
    if "FAIL" in flags:
        return ("failg" if base == "ALLOCATED" else "fail") + (mark or star)
    if "RESERVED" in flags and base == "IDLE":
        return f"resv{star}"
    return usual + (mark or star)


_LONGER = {"drng": "draining", "drain": "drained", "alloc": "allocated", "mix": "mixed",
           "resv": "reserved", "failg": "failing", "boot": "reboot"}  # fmt: skip


def long_state(words: list[str]) -> str:
    """The states as sinfo's %T writes them: ``draining*``."""
    short = short_state(words)
    plain = short.rstrip("*@^$")
    return _LONGER.get(plain, plain) + short[len(plain) :]


def full_state(words: list[str]) -> str:
    """The states as scontrol writes them: ``IDLE+DRAIN``."""
    return "+".join(words)


# --- what is used ---------------------------------------------------------------------------------


def kind_of(node: Node) -> str:
    """The sort of GPU as sites name it in Gres: ``h100``."""
    return str(node.gpus[0].profile.name.split("-")[0]).lower().replace("nvidia ", "").split()[0]


def gpus_used(cluster: Cluster, node: Node) -> tuple[int, ...]:
    """The GPUs of a node that jobs have."""
    jobs = cluster.jobs_on(node.name)
    return tuple(sorted({gpu for job in jobs for gpu in job.specs[node.name].gpus}))


def cpus_used(cluster: Cluster, node: Node) -> int:
    """The CPUs of a node that jobs have."""
    return min(sum(job_cpus(job, node) for job in cluster.jobs_on(node.name)), CPUS)


def job_cpus(job: ClusterJob, node: Node) -> int:
    """The CPUs that a job has, or wants, of a node.

    A submitted job says so; another has its share by its GPUs, as sites' defaults give it.
    """
    request = job.request
    if request is None:
        return CPUS * job.gpus_per_node // len(node.gpus)
    return CPUS if request.exclusive else max(request.tasks * request.cpus_per_task, 1)


# --- jobs -----------------------------------------------------------------------------------------

JOB_CODES = {
    Phase.PENDING: "PD",
    Phase.RUNNING: "R",
    Phase.SUSPENDED: "S",
    Phase.COMPLETED: "CD",
    Phase.CANCELLED: "CA",
    Phase.FAILED: "F",
    Phase.TIMEOUT: "TO",
    Phase.NODE_FAIL: "NF",
}
"""The states of jobs as squeue's %t writes them; %T has the words themselves."""


def job_reason(job: ClusterJob) -> str:
    """Why a job waits, or ended badly, or that there is nothing to say."""
    if job.phase is Phase.FAILED:
        return "NonZeroExitCode"
    if job.phase is Phase.TIMEOUT:
        return "TimeLimit"
    if job.phase is Phase.NODE_FAIL:
        return "NodeDown"
    if job.phase is not Phase.PENDING:
        return "None"
    if job.held:
        return "JobHeldAdmin" if job.held_by_admin else "JobHeldUser"
    return job.reason or "None"


# --- times ----------------------------------------------------------------------------------------


def moment(world: World, at_us: int) -> str:
    """A moment of the run as Slurm writes it: ``2026-01-01T00:00:00``."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(unix_s(world, at_us)))


def heading_date(world: World) -> str:
    """The line that stands over long lists."""
    return time.strftime("%a %b %d %H:%M:%S %Y", time.gmtime(unix_s(world, world.now_us)))


def unix_s(world: World, at_us: int) -> int:
    """A moment of the run as Unix time."""
    epoch = next(iter(world.nodes.values())).epoch
    return int(epoch.unix_us(at_us) // 1_000_000)


def run_time_s(world: World, job: ClusterJob) -> int:
    """How long a job has run, or ran."""
    if job.started_us is None or job.phase is Phase.PENDING:
        return 0
    end_us = job.ended_us if job.ended_us is not None else world.now_us
    return (end_us - job.started_us) // 1_000_000


def elapsed(seconds: int, *, padded: bool = False) -> str:
    """Slurm's form: ``1-02:03:04``, ``2:03:04``, ``3:04``; ``padded`` as scontrol and sacct do.

    >>> elapsed(7384), elapsed(7384, padded=True)
    ('2:03:04', '02:03:04')
    """
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    if days or padded:
        return (f"{days}-" if days else "") + f"{hour:02}:{minute:02}:{second:02}"
    return f"{hour}:{minute:02}:{second:02}" if hour else f"{minute}:{second:02}"


def limit(seconds: int | None, *, padded: bool = False) -> str:
    """A time limit."""
    return "UNLIMITED" if seconds is None else elapsed(seconds, padded=padded)
