"""``kubectl exec``, ``logs``, ``wait`` and ``rollout``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from fakes.clock import SECOND_US
from fakes.commands.kubectl.caller import (
    Caller,
    RefusedError,
    UnknownHereError,
    chosen,
    resources,
)
from fakes.commands.remote_shell import words_on
from fakes.kubernetes.jsonpath import fill
from fakes.kubernetes.state import Object

_SPAN = re.compile(r"(\d+)(ms|s|m|h)")
_UNIT_US = {"ms": 1_000, "s": SECOND_US, "m": 60 * SECOND_US, "h": 3600 * SECOND_US}
_USUAL_WAIT_US = 30 * SECOND_US


def execute(caller: Caller) -> int:
    """Run a command in a pod: on its node, as remote_shell.py says."""
    pod, rest = _pod(caller, caller.words[1:])
    words = list(caller.after) or rest
    if not words:
        raise RefusedError("error: you must specify at least one command for the container")
    node = pod["spec"].get("nodeName")
    if node is None or pod["status"]["phase"] != "Running":
        raise RefusedError(
            "error: cannot exec into a container in a completed pod; current phase is "
            + pod["status"]["phase"]
        )
    there = caller.world.nodes[node]
    is_shell = len(words) > 2 and words[1] in ("-c", "-lc")
    line = words[2] if is_shell else shlex.join(words)
    run: Sequence[str] = words if there is caller.node else words_on(there, caller.node, line)
    status = caller.spawn(run, None) or 0
    if status:
        caller.err.write(f"command terminated with exit code {status}\n")
    return status


def logs(caller: Caller) -> int:
    """What a job's processes wrote."""
    pod, _ = _pod(caller, caller.words[1:])
    name = pod["metadata"].get("labels", {}).get("job-name", pod["metadata"]["name"])
    node = pod["spec"].get("nodeName")
    lines: list[str] = []
    if node is not None:
        log = caller.world.nodes[node].job_log
        lines = [line.text for line in log.lines if line.job == name]
    if caller.options.get("tail", "-1").isdecimal():
        lines = lines[-int(caller.options["tail"]) :]
    caller.out.writelines(f"{line}\n" for line in lines)
    return 0


def _pod(caller: Caller, words: Sequence[str]) -> tuple[Object, list[str]]:
    """The pod that is meant, and the words behind its name."""
    if not words:
        raise RefusedError("error: expected 'exec (POD | TYPE/NAME) [-c CONTAINER] -- COMMAND'")
    name = words[0].removeprefix("pod/").removeprefix("pods/")
    owner, slash, of = words[0].partition("/")
    kind, _ = resources(["pods"])
    if slash and owner in ("job", "jobs", "ds", "daemonset"):
        for pod in chosen(caller, kind, []):
            labels = pod["metadata"].get("labels", {})
            if of in (labels.get("job-name"), labels.get("app")):
                return pod, list(words[1:])
        raise RefusedError(f'Error from server (NotFound): {owner} "{of}" not found')
    return chosen(caller, kind, [name])[0], list(words[1:])


# --- waiting --------------------------------------------------------------------------------------


def wait(caller: Caller) -> int:
    """``wait --for=condition=Ready pod/x --timeout=60s``, and ``--for=delete``."""
    kind, names = resources(caller.words[1:])
    what = caller.options.get("for", "")
    limit_us = span_us(caller.options.get("timeout", "30s"))
    until_us = caller.world.now_us + limit_us
    things = [] if what == "delete" else chosen(caller, kind, names)
    for name in names or [one["metadata"]["name"] for one in things]:
        written = f"{kind.written}/{name}"
        while not _holds(caller, name, what):
            if caller.world.now_us >= until_us:
                raise RefusedError(f"error: timed out waiting for the condition on {written}")
            caller.pause(SECOND_US)
        met = "condition met" if what != "delete" else "deleted"
        caller.out.write(f"{written} {met}\n")
    return 0


def _holds(caller: Caller, name: str, what: str) -> bool:
    kind, _ = resources(caller.words[1:])
    found = [one for one in kind.all_of(caller.world) if one["metadata"]["name"] == name]
    if kind.namespaced and "all-namespaces" not in caller.options:
        found = [one for one in found if one["metadata"]["namespace"] == caller.namespace]
    if what == "delete":
        return not found
    if what.startswith("condition="):
        word, _, wanted = what.removeprefix("condition=").partition("=")
        conditions = found[0]["status"].get("conditions", []) if found else []
        have = {one["type"].lower(): one["status"].lower() for one in conditions}
        return have.get(word.lower()) == (wanted or "true").lower()
    if what.startswith("jsonpath="):
        path, _, wanted = what.removeprefix("jsonpath=").rpartition("=")
        path = path if path.startswith("{") else f"{{{path}}}"
        return bool(found) and fill(path.strip("'"), found[0]) == wanted
    raise UnknownHereError(f"wait --for={what}: this is not known here")


def rollout(caller: Caller) -> int:
    """``rollout status`` waits for a daemon set's nodes; ``restart`` begins it anew."""
    verb, words = (caller.words[1] if len(caller.words) > 1 else ""), caller.words[2:]
    kind, names = resources(words)
    if kind.kind != "DaemonSet" or verb not in ("status", "restart"):
        raise UnknownHereError(f"rollout {verb} {' '.join(words)}: this is not known here")
    until_us = caller.world.now_us + span_us(caller.options.get("timeout", "10m"))
    for name in [one["metadata"]["name"] for one in chosen(caller, kind, names)]:
        if verb == "restart":
            caller.out.write(f"daemonset.apps/{name} restarted\n")
            continue
        while True:
            status = chosen(caller, kind, [name])[0]["status"]
            if status["numberReady"] == status["desiredNumberScheduled"]:
                caller.out.write(f'daemon set "{name}" successfully rolled out\n')
                break
            caller.out.write(
                f'Waiting for daemon set "{name}" rollout to finish: {status["numberReady"]} of '
                f"{status['desiredNumberScheduled']} updated pods are available...\n"
            )
            if caller.world.now_us >= until_us:
                raise RefusedError("error: timed out waiting for the condition")
            caller.pause(_USUAL_WAIT_US)
    return 0


def span_us(text: str) -> int:
    """Microseconds of ``90s``, ``1m30s`` or ``0``."""
    if text.isdecimal():
        return int(text) * SECOND_US
    return sum(int(number) * _UNIT_US[unit] for number, unit in _SPAN.findall(text))
