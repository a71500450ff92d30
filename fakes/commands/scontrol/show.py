"""``scontrol show``: nodes, jobs, partitions, reservations, the configuration, lists of hosts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from fakes.commands.scontrol.caller import (
    Caller,
    NotFoundError,
    RefusedError,
    UnknownHereError,
)
from fakes.commands.scontrol.records import (
    CONFIGURATION,
    job_record,
    node_record,
    partition_record,
    reservation_record,
)
from fakes.jobs.cluster import UnknownError
from fakes.jobs.records import ClusterJob
from fakes.slurm.as_json import jobs_object, nodes_object, partitions_object
from fakes.slurm.hostlist import HostlistError, compress, expand, in_order
from fakes.slurm.jobs import JobView
from fakes.slurm.states import PARTITION, VERSION, elapsed, moment, run_time_s
from fakes.slurm.steps import steps_of


def show(caller: Caller, words: Sequence[str]) -> None:
    """Show it."""
    if not words:
        raise RefusedError("too few arguments for keyword:show")
    if len(words) > 2:
        raise RefusedError("too many arguments for keyword:show")
    what, equals, name = words[0].partition("=")
    name = name if equals else (words[1] if len(words) > 1 else "")
    what = what.lower()
    for beginning, least, act in _THINGS:
        if beginning.startswith(what) and len(what) >= least:
            act(caller, name)
            return
    if what in _ELSEWHERE:
        raise UnknownHereError(f"show {words[0]}: this is not known here")
    raise RefusedError(f"invalid entity:{words[0]} for keyword:show ")


_ELSEWHERE = frozenset(
    {"aliases", "bbstat", "burstbuffer", "dwstat", "federation", "frontend", "slurmd", "assoc_mgr"}
)


# --- lists of hosts -------------------------------------------------------------------------------


def _hostnames(caller: Caller, name: str) -> None:
    text = name or caller.env.get("SLURM_JOB_NODELIST") or caller.env.get("SLURM_NODELIST", "")
    if not text:
        caller.err.write("scontrol: error: host list is empty\n")
        return
    caller.out.writelines(f"{host}\n" for host in expand(text))


def _hostlist(caller: Caller, name: str) -> None:
    caller.out.write(compress(_hosts(name)) + "\n")


def _hostlist_sorted(caller: Caller, name: str) -> None:
    caller.out.write(compress(in_order(_hosts(name))) + "\n")


def _hosts(name: str) -> list[str]:
    """Hosts as a list gives them, or a file that nobody reads here."""
    if "/" in name:
        raise UnknownHereError(f"show hostlist {name}: a file is not known here")
    return expand(name) if name else []


# --- nodes and jobs -------------------------------------------------------------------------------


def _nodes(caller: Caller, name: str) -> None:
    try:
        names = expand(name) if name else list(caller.cluster.nodes)
    except HostlistError as error:
        raise NotFoundError(f"Node {name} not found") from error
    for one in names:
        if one not in caller.cluster.nodes:
            raise NotFoundError(f"Node {one} not found")
    if caller.as_json:
        _write_json(caller, nodes_object(caller.world, names))
        return
    for one in names:
        caller.write(node_record(caller, one))


def _jobs(caller: Caller, name: str) -> None:
    jobs: list[ClusterJob] = list(caller.cluster.jobs.values())
    if name:
        try:
            jobs = [caller.cluster.job(name.split("_")[0].split(".")[0])]
        except UnknownError as error:
            raise RefusedError("slurm_load_jobs error: Invalid job id specified") from error
    if caller.as_json:
        _write_json(caller, jobs_object(caller.world, jobs))
        return
    if not jobs:
        caller.out.write("No jobs in the system\n")
    for job in jobs:
        caller.write(job_record(caller, JobView(caller.world, job)))


def _steps(caller: Caller, name: str) -> None:
    views = [JobView(caller.world, job) for job in caller.cluster.jobs.values()]
    steps = [step for view in views for step in steps_of(view) if name in ("", step.id)]
    if not steps:
        caller.out.write("No job steps in the system\n")
    for step in steps:
        job, world = step.view.job, caller.world
        ran = elapsed(run_time_s(world, job), padded=True)
        caller.write(
            [
                (f"StepId={step.id}", "UserId=0", f"StartTime={step.view.start}",
                 "TimeLimit=UNLIMITED"),
                (f"State={job.phase.value.upper()}", f"Partition={PARTITION}",
                 f"NodeList={step.node_list}"),
                (f"Name={step.name}", f"RunTime={ran}"),
            ]
        )  # fmt: skip


# --- what is configured ---------------------------------------------------------------------------


def _partitions(caller: Caller, name: str) -> None:
    if name not in ("", PARTITION):
        raise NotFoundError(f"Partition {name} not found")
    if caller.as_json:
        _write_json(caller, partitions_object(caller.world))
        return
    caller.write(partition_record(caller.world))


def _reservations(caller: Caller, name: str) -> None:
    known = caller.cluster.reservations
    if name and name not in known:
        raise NotFoundError(f"Reservation {name} not found")
    shown = [known[name]] if name else list(known.values())
    if caller.as_json:
        raise UnknownHereError("show reservation --json: this is not known here")
    if not shown:
        caller.out.write("No reservations in the system\n")
    for reservation in shown:
        caller.write(reservation_record(caller.world, reservation))


def _configuration(caller: Caller, name: str) -> None:
    del name
    now = moment(caller.world, caller.world.now_us)
    settings = {
        **CONFIGURATION,
        "BOOT_TIME": moment(caller.world, 0),
        "MaxNodeCount": str(len(caller.cluster.nodes)),
        "NEXT_JOB_ID": str(max(caller.cluster.jobs, default=0) + 1),
        "SLURM_VERSION": VERSION,
    }
    caller.out.write(f"Configuration data as of {now}\n")
    ordered = sorted(settings.items(), key=lambda item: item[0].lower())
    caller.out.writelines(f"{key:<23} = {value}\n" for key, value in ordered)
    caller.out.write("\nSlurmctld(primary) at head is UP\n")


def _topology(caller: Caller, name: str) -> None:
    """One switch with everything under it."""
    names = list(caller.cluster.nodes)
    if name.startswith("node=") or name in names:
        names = [name.removeprefix("node=")]
    caller.out.write(f"SwitchName=leaf0 Level=0 LinkSpeed=1 Nodes={compress(names)}\n")


def _daemons(caller: Caller, name: str) -> None:
    del name
    caller.out.write("slurmd\n")


def _licenses(caller: Caller, name: str) -> None:
    del name
    caller.out.write("No licenses configured in Slurm.\n")


def _write_json(caller: Caller, shown: dict[str, Any]) -> None:
    caller.out.write(json.dumps(shown, indent=2) + "\n")


_THINGS: tuple[tuple[str, int, Callable[[Caller, str], None]], ...] = (
    ("config", 1, _configuration),
    ("daemons", 2, _daemons),
    ("hostnames", 5, _hostnames),
    ("hostlist", 5, _hostlist),
    ("hostlistsorted", 9, _hostlist_sorted),
    ("jobs", 1, _jobs),
    ("jobids", 4, _jobs),
    ("licenses", 2, _licenses),
    ("nodes", 1, _nodes),
    ("nodename", 5, _nodes),
    ("partitions", 1, _partitions),
    ("partitionname", 10, _partitions),
    ("reservations", 1, _reservations),
    ("reservationname", 12, _reservations),
    ("steps", 2, _steps),
    ("topology", 1, _topology),
)
