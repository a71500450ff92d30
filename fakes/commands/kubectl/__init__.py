"""``kubectl``: a Kubernetes cluster, answered from the world where it is the scheduler.

Elsewhere there is no API server to be reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from fakes.commands.kubectl.caller import Caller, RefusedError, UnknownHereError, parse
from fakes.commands.kubectl.changes import annotate, apply, delete, label, taint
from fakes.commands.kubectl.get import describe, get
from fakes.commands.kubectl.nodes import cordon, drain, uncordon
from fakes.commands.kubectl.patch import patch
from fakes.commands.kubectl.running import execute, logs, rollout, wait
from fakes.commands.registry import NOT_UNDERSTOOD, command
from fakes.commands.remote_shell import NotThereError, Spawn
from fakes.kubernetes.objects import VERSION
from fakes.node import Node
from fakes.world import World

_UNREACHED = (
    "The connection to the server localhost:8080 was refused - did you specify the right host or "
    "port?\n"
)


@command("kubectl", latency_us=150_000)
def main(
    argv: Sequence[str], node: Node, world: World, user: str, stdin: TextIO | None,
    env: Mapping[str, str], read_file: Callable[[str], str], spawn: Spawn,
    pause: Callable[[int], None], out: TextIO, err: TextIO,
) -> int:  # fmt: skip
    """Do it; 1 where the cluster, or kubectl, refuses."""
    try:
        options, words, after = parse(argv)
        caller = Caller(
            world, node, user, out, err, stdin, read_file, spawn, pause, options, words, after
        )
        if not words:
            out.write("kubectl controls the Kubernetes cluster manager.\n")
            return 0
        verb = _VERBS.get(words[0])
        if verb is None:
            raise UnknownHereError(f"{words[0]}: this command is not known here")
        local = words[0] == "config" or (words[0] == "version" and "client" in options)
        if not local and world.cluster.scheduler != "kubernetes":
            err.write(_UNREACHED)
            return 1
        return verb(caller)
    except RefusedError as refused:
        err.write(f"{refused}\n")
        return 1
    except (UnknownHereError, NotThereError) as unknown:
        err.write(f"kubectl: {unknown}\n")
        return NOT_UNDERSTOOD


def _version(caller: Caller) -> int:
    caller.out.write(f"Client Version: {VERSION}\nKustomize Version: v5.0.4-0.20230601165947\n")
    if "client" not in caller.options:
        caller.out.write(f"Server Version: {VERSION}\n")
    return 0


def _config(caller: Caller) -> int:
    words = tuple(caller.words[1:])
    if words == ("current-context",):
        caller.out.write("kubernetes-admin@cluster\n")
    elif words[:1] in (("use-context",), ("set-context",)):
        caller.out.write(f'Switched to context "{(*words, "")[1]}".\n')
    elif words == ("get-contexts",) and caller.options.get("output") == "name":
        caller.out.write("kubernetes-admin@cluster\n")
    else:
        raise UnknownHereError(f"config {' '.join(words)}: this is not known here")
    return 0


def _cluster_info(caller: Caller) -> int:
    caller.out.write("Kubernetes control plane is running at https://10.0.0.254:6443\n")
    return 0


_VERBS: dict[str, Callable[[Caller], int]] = {
    "annotate": annotate,
    "apply": apply,
    "cluster-info": _cluster_info,
    "config": _config,
    "cordon": cordon,
    "create": apply,
    "delete": delete,
    "describe": describe,
    "drain": drain,
    "exec": execute,
    "get": get,
    "label": label,
    "logs": logs,
    "patch": patch,
    "rollout": rollout,
    "taint": taint,
    "uncordon": uncordon,
    "version": _version,
    "wait": wait,
}
