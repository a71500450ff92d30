"""``scontrol``: nodes and jobs as Slurm shows and changes them.

Keys come in any case and abbreviated, as Slurm takes them (``stat=dr`` is ``State=DRAIN``).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from fakes.cluster import Cluster, ClusterJob, Phase, UnknownError
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.node import Node
from fakes.recovery import REBOOT_US, reboot
from fakes.slurm import HostlistError, compress, expand, job_reason, node_states
from fakes.world import World

_CPUS, _MEMORY_MB = 192, 2_000_000
_LOOKS_EVERY_US = 30_000_000

_FLAGS = frozenset({"-o", "--oneliner", "-a", "--all", "-d", "--details", "-Q", "--quiet", "-v"})


@dataclass(frozen=True, slots=True)
class _Caller:
    world: World
    user: str
    out: TextIO
    err: TextIO
    one_line: bool
    as_json: bool

    @property
    def cluster(self) -> Cluster:
        return self.world.cluster


class _Refused(Exception):  # noqa: N818
    """What slurmctld says no to, in its words."""


class _Unknown(Exception):  # noqa: N818
    """What the real command may know. One clause."""


@command("scontrol", latency_us=20_000)
def main(argv: Sequence[str], world: World, user: str, out: TextIO, err: TextIO) -> int:
    """Do it; 1 if Slurm refuses."""
    words = [word for word in argv if word not in _FLAGS and word != "--json"]
    one_line = bool({"-o", "--oneliner"} & set(argv))
    caller = _Caller(world, user, out, err, one_line, "--json" in argv)
    if not words:
        err.write("scontrol: an interactive session is not known here\n")
        return NOT_UNDERSTOOD
    verb = _verb(words[0])
    try:
        if verb is None:
            raise _Unknown(f"{words[0]}: this command is not known here")
        verb(caller, words[1:])
    except (_Refused, UnknownError, HostlistError) as refused:
        said = str(refused) if isinstance(refused, _Refused) else _said_of(refused)
        err.write(f"{said}\n")
        return 1
    except _Unknown as unknown:
        err.write(f"scontrol: {unknown}\n")
        return NOT_UNDERSTOOD
    return 0


def _said_of(error: Exception) -> str:
    if isinstance(error, HostlistError):
        return f"scontrol: error: Invalid hostlist: {error}"
    if "node" in str(error):
        return "slurm_update error: Invalid node name specified"
    return "slurm_update error: Invalid job id specified"


# --- show -----------------------------------------------------------------------------------------


def _show(caller: _Caller, words: Sequence[str]) -> None:
    what, names = (words[0].lower() if words else "config"), list(words[1:])
    if what.startswith("hostn"):
        caller.out.writelines(f"{name}\n" for name in expand(",".join(names)))
    elif what.startswith("hostl"):
        hosts = expand(",".join(names))
        caller.out.write(compress(sorted(set(hosts)) if "sort" in what else hosts) + "\n")
    elif what.startswith("node"):
        _show_nodes(caller, expand(",".join(names)) if names else list(caller.cluster.nodes))
    elif what.startswith("job"):
        jobs = [caller.cluster.job(name) for name in names] or [*caller.cluster.jobs.values()]
        _write(caller, [_job(caller, job) for job in jobs], "jobs")
    elif what.startswith("part"):
        _write(caller, [_partition(caller)], "partitions")
    elif what.startswith("conf"):
        caller.out.writelines(f"{name:24}= {value}\n" for name, value in _CONFIG.items())
    elif what.startswith("res"):
        caller.out.write("No reservations in the system\n")
    else:
        raise _Unknown(f"show {words[0]}: this is not known here")


_CONFIG = {
    "ClusterName": "cluster",
    "HealthCheckInterval": "0 sec",
    "RebootProgram": "/sbin/reboot",
    "ResumeTimeout": "600 sec",
    "ReturnToService": "1",
    "SlurmctldTimeout": "120 sec",
    "SlurmdTimeout": "300 sec",
    "SLURM_VERSION": "23.11.4",
}

Rows = list[list[tuple[str, str]]]


def _show_nodes(caller: _Caller, names: Sequence[str]) -> None:
    for name in names:
        if name not in caller.cluster.nodes:
            raise _Refused(f"Node {name} not found")
    if caller.as_json:
        nodes = [_node_object(caller, name) for name in names]
        caller.out.write(json.dumps({"nodes": nodes}, indent=2) + "\n")
        return
    _write(caller, [_node(caller, name) for name in names], "nodes")


def _states(caller: _Caller, name: str) -> list[str]:
    return node_states(caller.cluster, name, is_up=caller.world.nodes[name].is_up)


def _node(caller: _Caller, name: str) -> Rows:
    node, world = caller.world.nodes[name], caller.world
    count, kind = len(node.gpus), _kind(node)
    busy = count if caller.cluster.jobs_on(name) else 0
    state = caller.cluster.nodes[name]
    words = _states(caller, name)
    shown = "+".join(word for word in words if word != "NOT_RESPONDING")
    star = "*" if "NOT_RESPONDING" in words else ""
    why = state.down or state.drain
    rows = [
        [("NodeName", name), ("Arch", "x86_64"), ("CoresPerSocket", str(_CPUS // 2))],
        [("CPUAlloc", str(_CPUS if busy else 0)), ("CPUTot", str(_CPUS)), ("CPULoad", "1.00")],
        [("AvailableFeatures", kind)],
        [("ActiveFeatures", kind)],
        [("Gres", f"gpu:{kind}:{count}(S:0-1)")],
        [("NodeAddr", name), ("NodeHostName", name), ("Version", "23.11.4")],
        [("RealMemory", str(_MEMORY_MB)), ("AllocMem", "0"), ("Sockets", "2"), ("Boards", "1")],
        [("State", shown + star), ("ThreadsPerCore", "1"), ("Weight", "1"), ("Owner", "N/A")],
        [("Partitions", "batch")],
        [("BootTime", _moment(world, node.booted_us or 0)), ("SlurmdStartTime", "None")],
        [("CfgTRES", f"cpu={_CPUS},mem={_MEMORY_MB}M,billing={_CPUS},gres/gpu={count}")],
        [("AllocTRES", f"cpu={_CPUS},gres/gpu={busy}" if busy else "")],
    ]
    if why is not None:
        moment = _moment(world, why.at_us)
        rows.append([("Reason", f"{why.reason} [{why.user}@{moment}]")])
    return rows


def _node_object(caller: _Caller, name: str) -> dict[str, Any]:
    state = caller.cluster.nodes[name]
    why = state.down or state.drain
    return {
        "name": name,
        "hostname": name,
        "state": _states(caller, name),
        "reason": why.reason if why else "",
        "reason_set_by_user": why.user if why else "",
        "comment": "",
        "features": [_kind(caller.world.nodes[name])],
        "gres": f"gpu:{_kind(caller.world.nodes[name])}:{len(caller.world.nodes[name].gpus)}",
        "partitions": ["batch"],
    }


def _kind(node: Node) -> str:
    """The sort of GPU as sites name it in Gres: ``h100``."""
    return str(node.gpus[0].profile.name.split("-")[0]).lower().replace("nvidia ", "").split()[0]


def _job(caller: _Caller, job: ClusterJob) -> Rows:
    nodes = compress(job.nodes) if job.phase is Phase.RUNNING else "(null)"
    gpus = sum(len(spec.gpus) for spec in job.specs.values())
    started_us = job.started_us if job.started_us is not None else job.ended_us or 0
    word = job.phase.value.upper()
    return [
        [("JobId", str(job.number)), ("JobName", job.id)],
        [("UserId", f"{job.user}(1000)"), ("GroupId", f"{job.user}(1000)")],
        [("Priority", str(0 if job.held else job.priority)), ("Nice", "0"), ("QOS", "normal")],
        [("JobState", word), ("Reason", job_reason(job)), ("Dependency", "(null)")],
        [("Requeue", str(int(job.requeueable))), ("Restarts", str(job.requeues)),
         ("BatchFlag", "1"), ("ExitCode", f"{job.exit_code}:0")],
        [("SubmitTime", _moment(caller.world, job.submitted_us)),
         ("StartTime", _moment(caller.world, started_us))],
        [("Partition", "batch"), ("NodeList", nodes), ("NumNodes", str(len(job.specs)))],
        [("TresPerNode", f"gres:gpu:{gpus // max(len(job.specs), 1)}")],
        [("Comment", "(null)")],
    ]  # fmt: skip


def _partition(caller: _Caller) -> Rows:
    return [
        [("PartitionName", "batch"), ("Default", "YES"), ("State", "UP")],
        [("Nodes", compress(caller.cluster.nodes)), ("TotalNodes", str(len(caller.cluster.nodes)))],
    ]


def _write(caller: _Caller, things: Sequence[Rows], what: str) -> None:
    if caller.as_json:
        objects = [dict(pair for row in rows for pair in row) for rows in things]
        caller.out.write(json.dumps({what: objects}, indent=2) + "\n")
        return
    for rows in things:
        lines = [" ".join(f"{name}={value}" for name, value in row) for row in rows]
        joint = " " if caller.one_line else "\n   "
        caller.out.write(joint.join(lines) + ("\n" if caller.one_line else "\n\n"))


def _moment(world: World, at_us: int) -> str:
    epoch = next(iter(world.nodes.values())).epoch
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(epoch.unix_us(at_us) / 1e6))


# --- changes --------------------------------------------------------------------------------------


def _update(caller: _Caller, words: Sequence[str]) -> None:
    given = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise _Refused(f"Invalid input: {word}\nRequest aborted")
        given[name.lower().rstrip("+-")] = value
    keys = list(given)
    if "nodename" in given or "nodehostname" in given:
        _update_nodes(caller, given)
    elif "jobid" in given or "jobname" in given:
        _update_job(caller, given)
    else:
        raise _Unknown(f"update {keys[0] if keys else ''}: this is not known here")


def _update_nodes(caller: _Caller, given: dict[str, str]) -> None:
    names = expand(given.get("nodename") or given["nodehostname"])
    state = next((given[key] for key in given if key.startswith("stat")), "").upper()
    reason = given.get("reason", "")
    for name in names:
        caller.cluster.node(name)
    for key in given:
        known = ("nodename", "nodehostname", "reason", "comment", "weight", "features", "extra")
        if key not in known and not key.startswith("stat"):
            raise _Unknown(f"update {key}=: this is not known here")
    if not state:
        return
    takes_out = state.startswith(("DRAI", "DOWN", "FAIL"))
    has_reason = reason or all(caller.cluster.nodes[name].drain for name in names)
    if takes_out and not has_reason:
        raise _Refused("You must specify a reason when DOWNING or DRAINING a node")
    for name in names:
        _set_state(caller, name, state, reason)


def _set_state(caller: _Caller, name: str, state: str, reason: str) -> None:
    cluster = caller.cluster
    if state.startswith("DRAI"):
        before = cluster.nodes[name].drain
        cluster.drain(name, reason or (before.reason if before else ""), caller.user)
    elif state.startswith(("DOWN", "FAIL")):
        cluster.set_down(name, reason, caller.user)
    elif state.startswith(("RESU", "IDLE", "UNDR")):
        cluster.resume(name)
    elif not state.startswith(("POWER", "FUTURE", "NORESP")):
        raise _Refused(f"Invalid input: State={state}")
    else:
        raise _Unknown(f"State={state}: this is not known here")


def _update_job(caller: _Caller, given: dict[str, str]) -> None:
    job = caller.cluster.job(given.get("jobid") or given["jobname"])
    if "priority" in given:
        job.priority = int(given["priority"])
    elif "requeue" in given:
        job.requeueable = given["requeue"] != "0"
    elif not {"comment", "admincomment", "nice", "timelimit", "name"} & set(given):
        raise _Unknown("update of this part of a job is not known here")


def _each_job(act: Callable[[_Caller, str], None]) -> Callable[[_Caller, Sequence[str]], None]:
    def run(caller: _Caller, words: Sequence[str]) -> None:
        for word in words:
            for name in word.split(","):
                act(caller, name)

    return run


def _reboot(caller: _Caller, words: Sequence[str]) -> None:
    """``reboot [ASAP] [nextstate=RESUME] NODES``: when no job is left; ASAP lets none begin."""
    names = [word for word in words if "=" not in word and word.upper() != "ASAP"]
    resumes = any(word.lower() == "nextstate=resume" for word in words)
    for name in expand(",".join(names)) if names else list(caller.cluster.nodes):
        caller.cluster.node(name)
        if any(word.upper() == "ASAP" for word in words):
            caller.cluster.drain(name, "Reboot ASAP", caller.user)
        _reboot_when_idle(caller, name, resumes=resumes)


def _reboot_when_idle(caller: _Caller, name: str, *, resumes: bool) -> None:
    world = caller.world
    if world.cluster.jobs_on(name):
        again_us = world.now_us + _LOOKS_EVERY_US
        world.schedule(
            again_us,
            f"{name}/scontrol",
            lambda: _reboot_when_idle(caller, name, resumes=resumes),
        )
        return
    reboot(world, world.nodes[name])
    if resumes:
        back_us = world.now_us + REBOOT_US
        world.schedule(back_us, f"{name}/scontrol", lambda: world.cluster.resume(name))


def _ping(caller: _Caller, words: Sequence[str]) -> None:
    caller.out.write("Slurmctld(primary) at head is UP\n")


def _nothing(caller: _Caller, words: Sequence[str]) -> None:
    """``reconfigure`` changes nothing that anybody sees."""


def _requeue_held(caller: _Caller, name: str) -> None:
    caller.cluster.hold(name, held=True)
    caller.cluster.requeue(name)


_VERBS: dict[str, Callable[[_Caller, Sequence[str]], None]] = {
    "show": _show,
    "update": _update,
    "requeue": _each_job(lambda caller, name: caller.cluster.requeue(name)),
    "requeuehold": _each_job(_requeue_held),
    "hold": _each_job(lambda caller, name: caller.cluster.hold(name, held=True)),
    "release": _each_job(lambda caller, name: caller.cluster.hold(name, held=False)),
    "reboot": _reboot,
    "reboot_nodes": _reboot,
    "ping": _ping,
    "reconfigure": _nothing,
    "reconfig": _nothing,
}


def _verb(word: str) -> Callable[[_Caller, Sequence[str]], None] | None:
    """Slurm takes the beginning of a word, if it is long enough to be meant."""
    lower = word.lower()
    if lower in _VERBS:
        return _VERBS[lower]
    return next(
        (_VERBS[name] for name in _VERBS if len(lower) > 1 and name.startswith(lower)), None
    )
