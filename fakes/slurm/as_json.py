"""What Slurm's commands print with ``--json``: the names of data_parser 0.0.40 (Slurm 23.11).

States are lists, and numbers that may be missing are objects, as that version writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fakes.jobs.records import ClusterJob, Phase
from fakes.slurm.hostlist import compress
from fakes.slurm.jobs import JobView, priority_of
from fakes.slurm.nodes import (
    NodeGroup,
    cpu_load,
    cpu_states,
    features_of,
    free_memory_mb,
    gres_of,
    gres_used,
    node_states_counted,
)
from fakes.slurm.states import (
    CPUS,
    MEMORY_MB,
    PARTITION,
    SOCKETS,
    VERSION,
    cpus_used,
    job_reason,
    states_of,
    unix_s,
)
from fakes.slurm.users import user_number
from fakes.system.kernel import RELEASE
from fakes.world import World

Object = dict[str, Any]


def sinfo_object(world: World, names: Sequence[str]) -> Object:
    """What ``sinfo --json`` prints: a record for nodes that are alike; and each node too."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name in names:
        groups.setdefault((*states_of(world, name), _reason(world, name)), []).append(name)
    records = [_group(NodeGroup(world, tuple(group))) for group in groups.values()]
    return {**nodes_object(world, names), "sinfo": records}


def nodes_object(world: World, names: Sequence[str]) -> Object:
    """What ``scontrol show nodes --json`` prints."""
    return {"nodes": [_node(world, name) for name in names], **_about()}


def jobs_object(world: World, jobs: Sequence[ClusterJob]) -> Object:
    """What ``squeue --json`` and ``scontrol show job --json`` print."""
    return {"jobs": [_job(JobView(world, job)) for job in jobs], **_about()}


def partitions_object(world: World) -> Object:
    """What ``scontrol show partition --json`` prints."""
    names = list(world.cluster.nodes)
    partition = {
        "name": PARTITION,
        "nodes": {"configured": compress(names), "total": len(names), "allowed_allocation": ""},
        "cpus": {"total": CPUS * len(names)},
        "partition": {"state": ["UP"]},
    }
    return {"partitions": [partition], **_about()}


def _about() -> Object:
    major, minor, micro = VERSION.split(".")
    version = {"major": major, "minor": minor, "micro": micro}
    meta = {
        "plugin": {"type": "", "name": "", "data_parser": "data_parser/v0.0.40"},
        "slurm": {"version": version, "release": VERSION},
    }
    return {"meta": meta, "errors": [], "warnings": []}


def _number(number: int | None, *, infinite: bool = False) -> Object:
    return {"set": number is not None, "infinite": infinite, "number": number or 0}


def _reason(world: World, name: str) -> str:
    why = world.cluster.nodes[name].why
    return why.reason if why else ""


def _node(world: World, name: str) -> Object:
    node, known = world.nodes[name], world.cluster.nodes[name]
    why, used = known.why, cpus_used(world.cluster, node)
    features = [one for one in features_of(world, name).split(",") if one]
    return {
        "architecture": "x86_64",
        "boards": 1,
        "boot_time": _number(unix_s(world, node.booted_us or 0)),
        "comment": known.comment,
        "cores": CPUS // SOCKETS,
        "cpu_load": round(cpu_load(node) * 100),
        "extra": known.extra,
        "free_mem": _number(free_memory_mb(node)),
        "cpus": CPUS,
        "features": features,
        "active_features": features,
        "gres": gres_of(node),
        "gres_drained": "N/A",
        "gres_used": gres_used(world, node),
        "name": name,
        "next_state_after_reboot": [known.reboot.next_state or "INVALID"]
        if known.reboot
        else ["INVALID"],
        "address": name,
        "hostname": name,
        "state": states_of(world, name),
        "operating_system": f"Linux {RELEASE}",
        "partitions": [PARTITION],
        "port": 6818,
        "real_memory": MEMORY_MB,
        "reason": why.reason if why else "",
        "reason_changed_at": _number(unix_s(world, why.at_us) if why else 0),
        "reason_set_by_user": why.user if why else "",
        "reservation": known.reservation.name if known.reservation else "",
        "slurmd_start_time": _number(unix_s(world, node.booted_us or 0)),
        "sockets": SOCKETS,
        "threads": 1,
        "temporary_disk": 0,
        "weight": 1,
        "tres": f"cpu={CPUS},mem={MEMORY_MB}M,billing={CPUS},gres/gpu={len(node.gpus)}",
        "version": VERSION,
        "alloc_memory": MEMORY_MB if used else 0,
        "alloc_cpus": used,
        "alloc_idle_cpus": CPUS - used,
    }


def _group(group: NodeGroup) -> Object:
    world, first = group.world, group.nodes[0]
    cpus, nodes = cpu_states(group), node_states_counted(group)
    why = world.cluster.nodes[first.name].why
    words = ("allocated", "idle", "other", "total")
    names = list(group.names)
    return {
        "node": {"state": group.states},
        "nodes": {
            **dict(zip(words, nodes, strict=True)),
            "hostnames": names,
            "addresses": names,
            "nodes": names,
        },
        "cpus": dict(zip(words, cpus, strict=True)),
        "memory": {"minimum": MEMORY_MB, "maximum": MEMORY_MB},
        "features": {"total": features_of(world, first.name)},
        "gres": {"total": gres_of(first), "used": gres_used(world, first)},
        "reason": {
            "description": why.reason if why else "",
            "time": _number(unix_s(world, why.at_us) if why else 0),
            "user": why.user if why else "",
        },
        "partition": {"name": PARTITION},
    }


def _job(view: JobView) -> Object:
    job, world = view.job, view.world
    placed = job.phase is not Phase.PENDING
    started, ended = job.started_us, job.ended_us
    limit_s = view.limit_s
    return {
        "account": "",
        "batch_flag": job.request is None or job.request.batch,
        "batch_host": job.nodes[0] if placed and job.nodes else "",
        "command": job.request.command if job.request else "",
        "comment": job.comment,
        "cpus": _number(view.cpus),
        "current_working_directory": view.work_dir,
        "end_time": _number(unix_s(world, ended) if ended is not None else 0),
        "excluded_nodes": compress(job.request.excluded) if job.request else "",
        "exit_code": {
            "status": ["ERROR" if job.exit_code else "SUCCESS"],
            "return_code": _number(job.exit_code),
            "signal": {"id": _number(job.signal), "name": ""},
        },
        "gres_detail": [_gres(world, job, name) for name in job.nodes] if job.is_placed else [],
        "group_name": job.user,
        "job_id": job.number,
        "job_resources": {
            "nodes": view.nodes,
            "allocated_nodes": [{"nodename": name} for name in job.nodes],
        }
        if placed
        else {},
        "job_state": [job.phase.value.upper()],
        "name": job.title,
        "nodes": view.nodes,
        "node_count": _number(job.node_count),
        "partition": PARTITION,
        "priority": _number(priority_of(job)),
        "qos": "",
        "requeue": job.requeueable,
        "required_nodes": compress(job.request.wanted) if job.request else "",
        "restart_cnt": job.requeues,
        "standard_error": view.output(error=True),
        "standard_input": "/dev/null",
        "standard_output": view.output(),
        "start_time": _number(unix_s(world, started) if started is not None else 0),
        "state_reason": job_reason(job),
        "submit_time": _number(unix_s(world, job.submitted_us)),
        "time_limit": _number(None if limit_s is None else limit_s // 60, infinite=limit_s is None),
        "tres_alloc_str": view.tres if placed else "",
        "tres_per_node": view.tres_per_node.replace("N/A", ""),
        "tres_req_str": view.tres,
        "user_id": user_number(job.user),
        "user_name": job.user,
    }


def _gres(world: World, job: ClusterJob, name: str) -> str:
    """The GPUs that a job has on a node: ``gpu:h100:2(IDX:0-1)``."""
    gpus = job.specs[name].gpus
    kind = gres_of(world.nodes[name]).split(":")[1]
    listed = compress(str(gpu) for gpu in gpus).strip("[]") if gpus else "N/A"
    return f"gpu:{kind}:{len(gpus)}(IDX:{listed})"
