"""``scontrol update``: states and remarks of nodes, and what may be changed of jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fakes.commands.scontrol.caller import Caller, RefusedError, UnknownHereError
from fakes.jobs.cluster import UnknownError
from fakes.jobs.records import ClusterJob, Phase
from fakes.slurm.hostlist import HostlistError, expand

_NO_ENTITY = (
    "No valid entity in update command\n"
    'Input line must include "NodeName", "PartitionName", "Reservation", "JobId", '
    'or "SlurmctldDebug"'
)
_VALID_STATES = (
    "Valid states are: NoResp DRAIN FAIL FUTURE RESUME POWER_DOWN POWER_UP UNDRAIN\n"
    "Not all states are valid given a node's prior state"
)

_NODE_KEYS = (
    "nodename", "state", "reason", "comment", "extra", "weight", "features", "availablefeatures",
    "activefeatures", "gres", "nodeaddr", "nodehostname", "cpubind", "resumeafter",
)  # fmt: skip
_IGNORED_NODE_KEYS = frozenset({"weight", "nodeaddr", "nodehostname", "cpubind", "resumeafter"})
_JOB_KEYS = (
    "jobid", "jobname", "name", "priority", "requeue", "comment", "admincomment", "nice",
    "timelimit", "partition", "qos", "account", "excnodelist", "reqnodelist", "numnodes",
    "starttime", "endtime", "dependency", "userid", "systemcomment", "extra",
)  # fmt: skip
_KEPT_JOB_KEYS = frozenset({"partition", "qos", "account", "nice", "admincomment", "systemcomment"})
_LEAST = 2


def update(caller: Caller, words: Sequence[str]) -> None:
    """Change it."""
    if not words:
        raise RefusedError("too few arguments for update keyword")
    pairs = [word.partition("=") for word in words]
    first = [name.lower() for name, _, _ in pairs]
    values = {name.lower(): value for name, _, value in pairs}
    if any(_is(name, "nodename", 4) for name in first):
        _update_nodes(caller, _keys(pairs, _NODE_KEYS))
    elif any(_is(name, "jobid", 3) or name == "jobname" for name in first):
        _update_jobs(caller, _keys(pairs, _JOB_KEYS))
    elif any(_is(name, "partitionname", 4) for name in first):
        raise UnknownHereError("update PartitionName=: this is not known here")
    elif any(_is(name, "reservationname", 3) for name in first):
        raise UnknownHereError("update ReservationName=: this is not known here")
    elif any(name.startswith("slurmctlddebug") for name in values):
        return
    else:
        raise RefusedError(_NO_ENTITY)


def _is(given: str, key: str, least: int) -> bool:
    return len(given) >= least and key.startswith(given)


def _keys(pairs: Sequence[tuple[str, str, str]], known: Sequence[str]) -> dict[str, str]:
    """What was given, by whole names. A ``+=`` or ``-=`` is taken as ``=``."""
    found = {}
    for name, equals, value in pairs:
        lower = name.lower().rstrip("+-")
        key = next((key for key in known if _is(lower, key, _LEAST)), None)
        if key is None or not equals:
            raise RefusedError(
                f"Update of this parameter is not supported: {name}{equals}{value}\nRequest aborted"
            )
        found[key] = value.strip("'\"")
        if key == "state":
            found["as given"] = f"{name}={value}"
    return found


# --- nodes ----------------------------------------------------------------------------------------


def _update_nodes(caller: Caller, given: Mapping[str, str]) -> None:
    names = expand(given["nodename"])
    if given["nodename"].upper() == "ALL":
        names = list(caller.cluster.nodes)
    for name in names:
        caller.cluster.node(name)
    if not caller.is_privileged:
        raise RefusedError("slurm_update error: Invalid user id")
    state, reason = given.get("state", "").upper(), given.get("reason", "")
    what = _state(state, given.get("as given", "")) if state else ""
    if what in ("DOWN", "DRAIN", "FAIL") and not reason:
        raise RefusedError(
            "You must specify a reason when DOWNING or DRAINING a node. Request denied"
        )
    for name in names:
        node = caller.cluster.node(name)
        node.comment = given.get("comment", node.comment)
        node.extra = given.get("extra", node.extra)
        features = given.get("availablefeatures", given.get("features"))
        node.features = given.get("activefeatures", features) or node.features
    refused = [name for name in names if what and not _set_state(caller, name, what, reason)]
    if refused:
        raise RefusedError("slurm_update error: Invalid node state specified")
    if not what and reason:
        for name in names:
            _set_reason(caller, name, reason)


def _state(given: str, as_given: str) -> str:
    """The state that a beginning of it means."""
    for state, least in (
        ("DRAIN", 3), ("FAIL", 3), ("RESUME", 3), ("UNDRAIN", 3), ("DOWN", 1), ("IDLE", 1),
    ):  # fmt: skip
        if len(given) >= least and state.startswith(given):
            return state
    for state in ("NORESP", "FUTURE", "POWER_DOWN", "POWER_UP", "CLOUD", "PLANNED"):
        if given.startswith(state):
            raise UnknownHereError(f"State={given}: this is not known here")
    raise RefusedError(f"Invalid input: {as_given}\nRequest aborted\n{_VALID_STATES}")


def _set_state(caller: Caller, name: str, state: str, reason: str) -> bool:
    """Change a node's state; whether that is allowed from the one it has."""
    cluster, user = caller.cluster, caller.user
    node = cluster.node(name)
    if state == "DRAIN":
        cluster.drain(name, reason, user)
    elif state == "FAIL":
        cluster.fail(name, reason, user)
    elif state == "DOWN":
        cluster.set_down(name, reason, user)
    elif state == "UNDRAIN":
        cluster.undrain(name)
    else:
        if node.why is None and caller.world.nodes[name].is_up and state == "RESUME":
            return False
        cluster.resume(name)
    return True


def _set_reason(caller: Caller, name: str, reason: str) -> None:
    """Say otherwise why a node takes no jobs; one that does has none to be said."""
    cluster, node = caller.cluster, caller.cluster.node(name)
    if node.down is not None:
        node.down = type(node.down)(reason, caller.user, caller.world.now_us)
    elif node.drain is not None:
        cluster.node(name).drain = type(node.drain)(reason, caller.user, caller.world.now_us)


# --- jobs -----------------------------------------------------------------------------------------


def _update_jobs(caller: Caller, given: Mapping[str, str]) -> None:
    name = given.get("jobid") or given.get("jobname") or ""
    try:
        jobs = [caller.cluster.job(one) for one in name.split(",")]
    except (UnknownError, HostlistError) as error:
        raise RefusedError(f"Invalid job id specified for job {name}") from error
    for job in jobs:
        _update_job(job, given)


def _update_job(job: ClusterJob, given: Mapping[str, str]) -> None:
    if not job.is_active:
        raise RefusedError(f"Job has already finished for job {job.number}")
    if "priority" in given:
        if job.held:
            raise RefusedError(
                f"Job is in held state, pending scheduler release for job {job.number}"
            )
        if not given["priority"].isdecimal():
            raise RefusedError(f"Invalid Priority value: {given['priority']}\nRequest aborted")
        job.priority = int(given["priority"])
        job.held = job.priority == 0
    if "requeue" in given:
        job.requeueable = given["requeue"] != "0"
    job.comment = given.get("comment", job.comment)
    job.name = given.get("name", job.name)
    unknown = given.keys() - _KEPT_JOB_KEYS - {
        "jobid", "jobname", "priority", "requeue", "comment", "name", "timelimit", "extra", "userid"
    }  # fmt: skip
    if unknown:
        raise UnknownHereError(f"update JobId= {min(unknown)}=: this is not known here")
    if "timelimit" in given and job.phase is Phase.RUNNING and job.request is not None:
        raise UnknownHereError("update TimeLimit= of a job that runs: this is not known here")
