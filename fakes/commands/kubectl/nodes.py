"""``kubectl cordon``, ``uncordon`` and ``drain``, with drain's refusals."""

from __future__ import annotations

from fakes.commands.kubectl.caller import Caller, RefusedError, chosen
from fakes.jobs.records import ClusterJob, Phase
from fakes.kubernetes.kinds import kind_named
from fakes.kubernetes.objects import job_pods, pods
from fakes.kubernetes.state import Object

_EVICTED_US = 2_000_000


def cordon(caller: Caller) -> int:
    """Place no pod on them any more."""
    for name in _names(caller):
        _cordon(caller, name, say_again=True)
    return 0


def uncordon(caller: Caller) -> int:
    """Take that back."""
    for name in _names(caller):
        if caller.world.cluster.nodes[name].drain is None:
            caller.out.write(f"node/{name} already uncordoned{caller.dry}\n")
            continue
        if not caller.is_dry:
            caller.world.cluster.uncordon(name)
        caller.out.write(f"node/{name} uncordoned{caller.dry}\n")
    return 0


def drain(caller: Caller) -> int:
    """Cordon nodes, and evict what runs there; refused for pods that would be lost."""
    names = _names(caller)
    for name in names:
        _cordon(caller, name, say_again=True)
    for name in names:
        here = [one for one in pods(caller.world) if one["spec"].get("nodeName") == name]
        daemons = [one for one in here if _owner(one) == "DaemonSet"]
        _refuse(caller, name, here, daemons)
        if daemons:
            listed = ", ".join(_full(one) for one in daemons)
            caller.err.write(f"Warning: ignoring DaemonSet-managed Pods: {listed}\n")
        for job in caller.world.cluster.jobs_on(name):
            _evict(caller, job, name)
        if not caller.is_dry:
            caller.world.cluster.drained(name)
        caller.out.write(f"node/{name} drained{caller.dry}\n")
    return 0


def _refuse(caller: Caller, name: str, here: list[Object], daemons: list[Object]) -> None:
    """What drain says of pods that it will not evict."""
    why = []
    if daemons and "ignore-daemonsets" not in caller.options:
        listed = ", ".join(_full(one) for one in daemons)
        why.append(
            "cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): " + listed
        )
    with_data = [one for one in here if _has_data(one) and one["status"]["phase"] == "Running"]
    if with_data and not {"delete-emptydir-data", "delete-local-data"} & caller.options.keys():
        listed = ", ".join(_full(one) for one in with_data)
        why.append(
            "cannot delete Pods with local storage (use --delete-emptydir-data to override): "
            + listed
        )
    bare = [one for one in here if not _owner(one) and one["status"]["phase"] == "Running"]
    if bare and "force" not in caller.options:
        listed = ", ".join(_full(one) for one in bare)
        why.append(
            "cannot delete Pods that declare no controller (use --force to override): " + listed
        )
    if why:
        said = "\n".join(why)
        raise RefusedError(
            f'error: unable to drain node "{name}" due to error: [{", ".join(why)}], continuing '
            f"command...\nThere are pending nodes to be drained:\n {name}\n{said}"
            if len(why) > 1
            else f'error: unable to drain node "{name}" due to error: {said}, continuing '
            f"command...\nThere are pending nodes to be drained:\n {name}\n{said}"
        )


def _evict(caller: Caller, job: ClusterJob, name: str) -> None:
    gone = [one for one in job_pods(caller.world, job) if one["spec"].get("nodeName") == name]
    for one in gone:
        caller.out.write(f"evicting pod {_full(one)}\n")
    if caller.is_dry:
        return
    caller.pause(_EVICTED_US)
    if job.phase is not Phase.RUNNING:
        return
    if any(_owner(one) for one in gone):
        caller.world.cluster.put_back(job)  # its controller makes another
    else:
        caller.world.cluster.cancel(str(job.number))
    caller.out.writelines(f"pod/{one['metadata']['name']} evicted\n" for one in gone)


def _cordon(caller: Caller, name: str, *, say_again: bool) -> None:
    if caller.world.cluster.nodes[name].drain is not None:
        if say_again:
            caller.out.write(f"node/{name} already cordoned{caller.dry}\n")
        return
    if not caller.is_dry:
        caller.world.cluster.cordon(name, caller.user)
    caller.out.write(f"node/{name} cordoned{caller.dry}\n")


def _names(caller: Caller) -> list[str]:
    """The nodes that are meant: by name, or by a selector."""
    names = [word.partition("/")[2] or word for word in caller.words[1:]]
    kind = kind_named("node")
    assert kind is not None
    if not names and "selector" not in caller.options:
        verb = caller.words[0]
        raise RefusedError(
            f"error: USAGE: {verb} NODE [flags]" if verb != "drain" else
            "error: either a node name or a selector must be given"
        )  # fmt: skip
    return [one["metadata"]["name"] for one in chosen(caller, kind, names)]


def _owner(pod: Object) -> str:
    owners = pod["metadata"].get("ownerReferences", [])
    return str(owners[0]["kind"]) if owners else ""


def _has_data(pod: Object) -> bool:
    return any("emptyDir" in volume for volume in pod["spec"].get("volumes", []))


def _full(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
