"""Kubernetes manifests: what they ask of GPUs, and what a cluster will make of it.

Every mapping called ``resources`` is looked at wherever it stands, so that kinds which operators
have brought (PyTorchJob, MPIJob, RayCluster ...) are understood as well. What is found is told in
one sentence that begins with its ``file:line:column``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gputui.doctor.check import Check, Result, critical, good, unchecked, warning
from gputui.doctor.documents import (
    STANDARD_INPUT,
    ManifestError,
    at,
    documents_of,
    is_list,
    mappings,
    place_of,
)
from gputui.doctor.examination import Examined
from gputui.doctor.gpu_resources import GPU, VENDOR, meant, quantity, unknown_profile
from gputui.doctor.visible_devices import exposed

_MISSPELT = {"limit": "limits", "request": "requests"}
_CONTAINERS = ("containers", "initContainers")

MANIFEST = Check("manifest", "What a manifest asks of GPUs will be granted.", lambda _: ())


def examine_manifest(path: Path) -> tuple[Examined, ...]:
    """Everything that is to be said about a file of one or several documents.

    ``-`` is standard input.
    """
    name = "<stdin>" if path == STANDARD_INPUT else str(path)
    try:
        documents = documents_of(path, name)
    except ManifestError as error:
        return (Examined(MANIFEST, unchecked(str(error), fix=_RENDER)),)
    results = [result for document in documents for result in _in_document(name, document)]
    if not results:
        asking = sum(1 for document in documents for _ in _resources(document))
        count = f"{len(documents)} document{'s' * (len(documents) != 1)}"
        results = [good(f"{name}: {count}, {asking} that ask for resources")]
    return tuple(Examined(MANIFEST, result) for result in results)


_RENDER = "kubectl apply --dry-run=client -f FILE says what Kubernetes makes of it"


def _in_document(name: str, document: Any) -> Iterator[Result]:
    if isinstance(document, Mapping):
        found = [*_in_mapping(name, document)]
        yield from found
        if found or "kind" in document:
            return
        sort = "a map without a kind"
    else:
        sort = "a list" if is_list(document) else "text"
    yield unchecked(
        f"{place_of(name, document)}: {sort}, expected a Kubernetes manifest", fix=_RENDER
    )


def _in_mapping(name: str, document: Any) -> Iterator[Result]:
    if document.get("kind") == "ResourceQuota":
        yield from _quota(name, document)
        return
    for container, resources in _resources(document):
        yield from _container(name, container, resources)
    yield from _pods(name, document)


def _resources(document: Any) -> Iterator[tuple[Any, Any]]:
    """Each container, and what it asks for."""
    for node in mappings(document):
        asked = node.get("resources")
        if isinstance(asked, Mapping):
            yield node, asked


def _container(name: str, container: Any, resources: Any) -> Iterator[Result]:
    for wrong, right in _MISSPELT.items():
        if isinstance(resources.get(wrong), Mapping):
            yield critical(
                f"{at(name, resources, wrong)}: resources have no {wrong}: nothing is granted",
                fix=f"{right}: ...",
            )
    tables = {}
    for key in ("limits", "requests"):
        table = resources.get(key)
        if table is not None and not isinstance(table, Mapping):
            sort = "a list" if is_list(table) else "text"
            yield critical(
                f"{at(name, resources, key)}: {key} is {sort}, expected a map: the pod is refused",
                fix=f"{key}: {{{GPU}: 1}}",
            )
        tables[key] = table if isinstance(table, Mapping) else {}
    for table in tables.values():
        for key, value in table.items():
            yield from _asked(at(name, table, key), str(key), value)
    yield from _compared(name, tables["requests"], tables["limits"])


def _asked(where: str, resource: str, value: Any) -> Iterator[Result]:
    """One resource, and how much of it."""
    right = meant(resource)
    if right is not None:
        yield critical(
            f"{where}: {resource} is no resource of NVIDIA's device plugin: the pod waits for ever "
            "or is refused",
            fix=f"{right}: {_shown(value)}",
        )
        return
    if not resource.startswith(VENDOR):
        return
    unknown = unknown_profile(resource)
    if unknown is not None:
        profile, near = unknown
        yield warning(
            f"{where}: no GPU known here has the MIG profile {profile}",
            fix="nvidia-smi mig -lgip lists what a GPU has"
            + (f"; did you mean {VENDOR}mig-{near}?" if near else ""),
        )
    yield from _amount(where, resource, value)


def _compared(name: str, requests: Any, limits: Any) -> Iterator[Result]:
    """GPUs are not overcommitted: a request needs a limit, and is equal to it."""
    for key, value in requests.items():
        if not str(key).startswith(VENDOR) or meant(str(key)) is not None:
            continue
        where = at(name, requests, key)
        if key not in limits:
            yield critical(
                f"{where}: {key} is requested without a limit: the pod is refused",
                fix=f"limits: {{{key}: {_shown(value)}}}",
            )
        elif quantity(limits[key]) != quantity(value):
            yield critical(
                f"{where}: {key} requests {_shown(value)}, limits {_shown(limits[key])}: "
                "GPUs are not overcommitted, the pod is refused",
                fix=f"leave the request out: it is taken from the limit ({_shown(limits[key])})",
            )


def _amount(where: str, resource: str, value: Any) -> Iterator[Result]:
    if isinstance(value, Mapping) or is_list(value):
        yield unchecked(
            f"{where}: {resource} is no value: a template is to be rendered first",
            fix="helm template . | gputui doctor --manifest -",
        )
        return
    amount = quantity(value)
    if amount is not None and amount.denominator == 1:
        return
    text = _shown(value)
    if amount is not None:
        share = "MIG (nvidia.com/mig-1g.10gb: 1), or time-slicing in the device plugin"
        yield critical(
            f"{where}: {resource}: {text}: GPUs are counted in whole numbers, the pod is refused",
            fix=f"{resource}: 1; for a part of a GPU: {share}",
        )
    else:
        told = f"{text} is no whole number" if value is not None else "no amount is given"
        yield critical(f"{where}: {resource}: {told}: the pod is refused", fix=f"{resource}: 1")


def _shown(value: Any) -> str:
    """A value as YAML has it."""
    if value is None or isinstance(value, bool):
        return {None: "", True: "true", False: "false"}[value]
    return str(value)


def _quota(name: str, document: Any) -> Iterator[Result]:
    """Extended resources are limited by their requests alone."""
    spec = document.get("spec")
    hard = spec.get("hard") if isinstance(spec, Mapping) else None
    if not isinstance(hard, Mapping):
        return
    for key, value in hard.items():
        plain = str(key).removeprefix("requests.").removeprefix("limits.")
        if not plain.startswith(VENDOR):
            continue
        where = at(name, hard, key)
        if not str(key).startswith("requests."):
            yield critical(
                f"{where}: {key}: a quota limits extended resources by requests alone",
                fix=f"requests.{plain}: {_shown(value)}",
            )
        yield from _amount(where, str(key), value)


def _pods(name: str, document: Any) -> Iterator[Result]:
    """What a pod's containers are, and what one with several GPUs needs besides."""
    for node in mappings(document):
        for key in _CONTAINERS:
            containers = node.get(key)
            if isinstance(containers, Mapping) and _are_containers(containers):
                yield critical(
                    f"{at(name, node, key)}: {key} is a map, expected a list: the pod is refused",
                    fix=f"{key}: [{{name: ..., image: ...}}], each container behind a dash",
                )
            for container in containers if is_list(containers) else ():
                yield from exposed(name, container)
        containers = node.get("containers")
        if is_list(containers):
            yield from _pod(name, node, containers)


def _are_containers(node: Any) -> bool:
    """Whether a mapping is a container, or has them under their names."""
    marks = ("image", "resources")
    inside = [one for one in node.values() if isinstance(one, Mapping)]
    return any(mark in one for one in (node, *inside) for mark in marks)


def _pod(name: str, pod: Any, containers: Any) -> Iterator[Result]:
    most = max((_gpus(container) for container in containers), default=0)
    if most > 1 and not pod.get("hostIPC") and not _has_shared_memory(pod):
        yield warning(
            f"{at(name, pod, 'containers')}: {most} GPUs with 64 MiB of /dev/shm: data loaders "
            "and NCCL will fail",
            fix="volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}], "
            "mounted at /dev/shm",
        )


def _gpus(container: Any) -> int:
    resources = container.get("resources") if isinstance(container, Mapping) else None
    limits = resources.get("limits") if isinstance(resources, Mapping) else None
    amount = quantity(limits.get(GPU)) if isinstance(limits, Mapping) else None
    return int(amount or 0)


def _has_shared_memory(pod: Any) -> bool:
    volumes = pod.get("volumes")
    if not is_list(volumes):
        return False
    for volume in volumes:
        empty = volume.get("emptyDir") if isinstance(volume, Mapping) else None
        if isinstance(empty, Mapping) and empty.get("medium") == "Memory":
            return True
    return False
