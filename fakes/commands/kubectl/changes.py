"""``kubectl taint``, ``label``, ``annotate``, ``delete``, ``apply`` and ``create -f``."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from fakes.commands.kubectl.caller import (
    Caller,
    RefusedError,
    UnknownHereError,
    chosen,
    resources,
)
from fakes.jobs.records import ClusterJob, Request
from fakes.kubernetes.kinds import KINDS, kind_of
from fakes.kubernetes.objects import GPU, job_pods, stamp
from fakes.kubernetes.state import Object
from fakes.slurm.submit import duration_of, exit_code_of

_NONE = "\0"  # a label of the world's that somebody took away


def taint(caller: Caller) -> int:
    """``taint nodes n0 gpu=bad:NoSchedule``, and with a ``-`` at the end no longer."""
    words = list(caller.words[1:])
    edits = [word for word in words[1:] if ":" in word or word.endswith("-")]
    kind, names = resources([word for word in words if word not in edits])
    for one in chosen(caller, kind, names):
        name = one["metadata"]["name"]
        kept = caller.world.cluster.kubernetes.taints.setdefault(name, [])
        for edit in edits:
            _taint(caller, name, kept, edit)
    return 0


def _taint(caller: Caller, name: str, kept: list[dict[str, str]], edit: str) -> None:
    pair, _, effect = edit.removesuffix("-").partition(":")
    key, _, value = pair.partition("=")
    same = [one for one in kept if one["key"] == key and effect in ("", one["effect"])]
    if edit.endswith("-"):
        if not same:
            raise RefusedError(f'error: taint "{edit.removesuffix("-")}" not found')
        kept[:] = [one for one in kept if one not in same]
        caller.out.write(f"node/{name} untainted\n")
        return
    if effect not in ("NoSchedule", "NoExecute", "PreferNoSchedule"):
        raise RefusedError(
            f"error: invalid taint effect: {effect}, unsupported taint effect\n"
            "See 'kubectl taint -h' for help and examples"
        )
    if same and "overwrite" not in caller.options:
        raise RefusedError(
            f"error: node {name} already has {key} taint(s) with same effect(s) and --overwrite is "
            "false"
        )
    kept[:] = [one for one in kept if one not in same]
    kept.append({"effect": effect, "key": key, **({"value": value} if value else {})})
    caller.out.write(f"node/{name} tainted\n")


def label(caller: Caller) -> int:
    """``label node n0 gpu=bad``, and ``gpu-`` no longer."""
    return _mark(caller, "label")


def annotate(caller: Caller) -> int:
    """The same with annotations."""
    return _mark(caller, "annotat")


def _mark(caller: Caller, verb: str) -> int:
    words = list(caller.words[1:])
    edits = [word for word in words[1:] if "=" in word or word.endswith("-")]
    kind, names = resources([word for word in words if word not in edits])
    if kind.kind != "Node":
        raise UnknownHereError(f"{caller.words[0]} {kind.names[1]}: this is not known here")
    state = caller.world.cluster.kubernetes
    table = state.labels if verb == "label" else state.annotations
    for one in chosen(caller, kind, names):
        name = one["metadata"]["name"]
        shown = one["metadata"]["labels" if verb == "label" else "annotations"]
        kept = table.setdefault(name, {})
        said = f"{verb}ed"
        for edit in edits:
            key, equals, value = edit.partition("=")
            if not equals:
                key = edit.removesuffix("-")
                kept[key] = _NONE
                if verb != "label":
                    del kept[key]
                said = "unlabeled" if verb == "label" else said
                continue
            if key in shown and shown[key] != value and "overwrite" not in caller.options:
                raise RefusedError(
                    f"error: '{key}' already has a value ({shown[key]}), and --overwrite is false"
                )
            kept[key] = value
        caller.out.write(f"node/{name} {said}\n")
    return 0


# --- deleting -------------------------------------------------------------------------------------


def delete(caller: Caller) -> int:
    """Delete pods, jobs, and what was applied; a pod with a controller comes back elsewhere."""
    if "filename" in caller.options:
        for thing in _manifests(caller):
            _delete_one(caller, thing)
        return 0
    kind, names = resources(caller.words[1:])
    if not names and not {"all", "selector", "field-selector"} & caller.options.keys():
        raise RefusedError("error: resource(s) were provided, but no name was specified")
    if kind.kind == "Node":
        raise UnknownHereError("delete node: this is not known here")
    for one in chosen(caller, kind, names):
        _delete_one(caller, one)
    return 0


def _delete_one(caller: Caller, thing: Object) -> None:
    kind, name = kind_of(thing), thing["metadata"]["name"]
    namespace = thing["metadata"].get("namespace", caller.namespace)
    job = _job_of(caller, str(thing["kind"]), namespace, name)
    if job is not None and not caller.is_dry:
        owned = bool(thing["metadata"].get("ownerReferences"))
        if thing["kind"] == "Pod" and owned and job.is_placed:
            caller.world.cluster.put_back(job)
        else:
            caller.world.cluster.cancel(str(job.number))
    for key in list(caller.world.cluster.kubernetes.applied):
        if key[0] == thing["kind"] and key[2] == name:
            del caller.world.cluster.kubernetes.applied[key]
    written = kind.names[1] if kind else str(thing["kind"]).lower()
    written = f"{written}.{kind.group}" if kind and kind.group else written
    how = "force deleted" if "force" in caller.options else "deleted"
    caller.out.write(f'{written} "{name}" {how}{caller.dry}\n')


def _job_of(caller: Caller, kind: str, namespace: str, name: str) -> ClusterJob | None:
    for job in reversed(caller.world.cluster.jobs.values()):
        if kind == "Job" and job.title == name:
            return job
        if kind == "Pod":
            for pod in job_pods(caller.world, job):
                if (pod["metadata"]["namespace"], pod["metadata"]["name"]) == (namespace, name):
                    return job
    return None


# --- applying -------------------------------------------------------------------------------------


def apply(caller: Caller) -> int:
    """Take objects up: pods and jobs run, where there is room for them; others are kept."""
    if caller.words[1:2] in (["namespace"], ["ns"]) and len(caller.words) > 2:
        name = caller.words[2]
        _keep(caller, {"kind": "Namespace", "metadata": {"name": name}}, "created")
        return 0
    if "filename" not in caller.options:
        if caller.words[0] == "create":
            raise UnknownHereError(f"create {' '.join(caller.words[1:])}: this is not known here")
        raise RefusedError("error: must specify one of -f and -k")
    for thing in list(_manifests(caller)):
        _apply_one(caller, thing)
    return 0


def _apply_one(caller: Caller, thing: Object) -> None:
    kind, name = str(thing["kind"]), thing["metadata"]["name"]
    if kind not in {one.kind for one in KINDS} or kind in ("Node", "Event", "DaemonSet"):
        raise UnknownHereError(f"apply of a {kind}: this is not known here")
    if kind not in ("Pod", "Job"):
        _keep(caller, thing, "created")
        return
    namespace = thing["metadata"].get("namespace", caller.namespace)
    thing["metadata"]["namespace"] = namespace
    written = "pod" if kind == "Pod" else "job.batch"
    known = _job_of(caller, kind, namespace, name)
    if known is not None and (known.is_active or kind == "Job"):
        if caller.words[0] == "create":
            plural = "pods" if kind == "Pod" else "jobs.batch"
            raise RefusedError(
                f'Error from server (AlreadyExists): error when creating "STDIN": {plural} '
                f'"{name}" already exists'
            )
        caller.out.write(f"{written}/{name} unchanged{caller.dry}\n")
        return
    if not caller.is_dry:
        job = caller.world.cluster.submit(name, caller.user, _request(caller, thing))
        caller.world.cluster.kubernetes.owned[job.number] = thing
    caller.out.write(f"{written}/{name} created{caller.dry}\n")


def _request(caller: Caller, thing: Object) -> Request:
    """What a Pod, or a Job's template, asks for."""
    spec = thing.get("spec", {})
    pod = spec if thing["kind"] == "Pod" else spec.get("template", {}).get("spec", {})
    containers = pod.get("containers") or [{}]
    resources_ = containers[0].get("resources", {})
    limits = resources_.get("limits", resources_.get("requests", {})) or {}
    words = [*(containers[0].get("command") or ()), *(containers[0].get("args") or ())]
    script = " ".join(str(word) for word in words)
    wanted = pod.get("nodeName") or pod.get("nodeSelector", {}).get("kubernetes.io/hostname")
    if wanted is not None and wanted not in caller.world.nodes:
        wanted = None
    return Request(
        nodes=int(spec.get("parallelism", 1)) if thing["kind"] == "Job" else 1,
        gpus=int(limits.get(GPU, 0)),
        wanted=(str(wanted),) if wanted else (),
        duration_s=duration_of(f"#\n{script}\n"),
        exit_code=exit_code_of(script),
        script=script,
        command=script,
        batch=False,
    )


def _keep(caller: Caller, thing: Object, word: str) -> None:
    kind = kind_of(thing)
    assert kind is not None
    meta = thing["metadata"]
    namespace = meta.get("namespace", caller.namespace) if kind.namespaced else ""
    if namespace:
        meta["namespace"] = namespace
    key = (kind.kind, namespace, str(meta["name"]))
    applied = caller.world.cluster.kubernetes.applied
    before = applied.get(key)
    if before is not None:
        meta["creationTimestamp"] = before["metadata"]["creationTimestamp"]
        word = "unchanged" if before == thing else "configured"
    else:
        meta["creationTimestamp"] = stamp(caller.world, caller.world.now_us)
    if not caller.is_dry:
        applied[key] = thing
    caller.out.write(f"{kind.written}/{meta['name']} {word}{caller.dry}\n")


def _manifests(caller: Caller) -> Iterator[Object]:
    """The objects of a file, or of standard input."""
    path = caller.options["filename"]
    if path.startswith(("http:", "https:")):
        raise RefusedError(f'error: unable to read URL "{path}": dial tcp: i/o timeout')
    if path == "-":
        text = caller.stdin.read() if caller.stdin else ""
    else:
        try:
            text = caller.read_file(path)
        except OSError as error:
            raise RefusedError(f'error: the path "{path}" does not exist') from error
    try:
        things = list(YAML(typ="safe", pure=True).load_all(text))
    except YAMLError as error:
        said = str(error).splitlines()[0]
        raise RefusedError(f"error: error parsing {path}: error converting YAML: {said}") from error
    for thing in things:
        if thing is None:
            continue
        if not isinstance(thing, dict) or "kind" not in thing or "metadata" not in thing:
            raise RefusedError(
                f'error: error validating "{path}": error validating data: kind not set'
            )
        if thing["kind"] == "List":
            yield from thing.get("items", [])
        else:
            yield json.loads(json.dumps(thing, default=str))
