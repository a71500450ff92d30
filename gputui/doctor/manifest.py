"""Kubernetes manifests: what they ask of GPUs, and what a cluster will make of it.

Every mapping called ``resources`` is looked at wherever it stands, so that kinds which operators
have brought (PyTorchJob, MPIJob, RayCluster ...) are understood as well. Rules: Kubernetes'
"Schedule GPUs" and "Extended resources"; NVIDIA's device plugin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from gputui.doctor.check import Check, Result, critical, good, unchecked, warning
from gputui.doctor.examination import Examined

GPU = "nvidia.com/gpu"
_VENDOR = "nvidia.com/"
_MOST_BYTES = 16 << 20
_NUMBER = re.compile(r"\d{1,9}(?:\.\d{0,9})?(?:[eE]\d)?")
_THOUSANDTHS = re.compile(r"\d{1,9}m")
_NEARLY = re.compile(r"nvidia(?:\.com)?[/.](?:gpus?|GPUs?)")

MANIFEST = Check("manifest", "What a manifest asks of GPUs will be granted.", lambda _: ())


class ManifestError(Exception):
    """A file cannot be read; the message says where and why."""


def examine_manifest(path: Path) -> tuple[Examined, ...]:
    """Everything that is to be said about a file of one or several documents."""
    try:
        documents = _documents(path)
    except ManifestError as error:
        return (Examined(MANIFEST, unchecked(str(error))),)
    results = [result for document in documents for result in _in_document(path, document)]
    if not results:
        asking = sum(1 for document in documents for _ in _resources(document))
        text = f"{path}: {len(documents)} documents, {asking} that ask for resources"
        results = [good(text)]
    return tuple(Examined(MANIFEST, result) for result in results)


def _documents(path: Path) -> list[Any]:
    yaml = YAML(typ="rt")
    yaml.allow_duplicate_keys = True
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8")
        return [document for document in yaml.load_all(text) if document is not None]
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ManifestError(f"{path}: is not UTF-8 text") from None
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise ManifestError(f"{path}{where}: no YAML: {error.problem}") from None
    except (YAMLError, RecursionError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise ManifestError(f"{path}: no YAML: {reason}") from None


def _in_document(path: Path, document: Any) -> Iterator[Result]:
    if not isinstance(document, Mapping):
        return
    if document.get("kind") == "ResourceQuota":
        yield from _quota(path, document)
        return
    for container, resources in _resources(document):
        yield from _container(path, container, resources)
    yield from _pods(path, document)


def _mappings(root: Any) -> Iterator[Any]:
    """Every mapping, in the order of the file; one that aliases repeat comes once."""
    waiting = [root]
    seen: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen or not (isinstance(node, Mapping) or _is_list(node)):
            continue
        seen.add(id(node))
        if isinstance(node, Mapping):
            yield node
        inside = list(node.values()) if isinstance(node, Mapping) else list(node)
        waiting += reversed(inside)


def _resources(document: Any) -> Iterator[tuple[Any, Any]]:
    """Each container, and what it asks for."""
    for node in _mappings(document):
        asked = node.get("resources")
        if isinstance(asked, Mapping):
            yield node, asked


def _container(path: Path, container: Any, resources: Any) -> Iterator[Result]:
    limits, requests = resources.get("limits"), resources.get("requests")
    limits = limits if isinstance(limits, Mapping) else {}
    requests = requests if isinstance(requests, Mapping) else {}
    for table in (limits, requests):
        for name, value in table.items():
            if str(name) != GPU and _NEARLY.fullmatch(str(name)):
                yield critical(
                    f"{_at(path, table, name)}: {name} is no resource of NVIDIA's device plugin: "
                    "the pod waits for ever",
                    fix=f"{GPU}: {value}",
                )
            elif str(name).startswith(_VENDOR):
                yield from _amount(_at(path, table, name), str(name), value)
    for name in requests:
        if not str(name).startswith(_VENDOR):
            continue
        where = _at(path, requests, name)
        if name not in limits:
            yield critical(
                f"{where}: {name} is requested without a limit: the pod is refused",
                fix=f"limits: {{{name}: {requests[name]}}}",
            )
        elif str(limits[name]) != str(requests[name]):
            yield critical(
                f"{where}: {name} requests {requests[name]}, limits {limits[name]}: "
                "GPUs are not overcommitted, the pod is refused",
                fix=f"leave the request out: it is taken from the limit ({limits[name]})",
            )


def _amount(where: str, name: str, value: Any) -> Iterator[Result]:
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, Mapping) or _is_list(value):
        yield unchecked(f"{where}: {name} is no value: a template is to be rendered first")
        return
    else:
        text = str(value)
    if _is_whole(text):
        return
    share = "MIG (nvidia.com/mig-1g.10gb: 1), or time-slicing in the device plugin"
    if _is_fraction(text):
        yield critical(
            f"{where}: {name}: {text}: GPUs are counted in whole numbers, the pod is refused",
            fix=f"{name}: 1; for a part of a GPU: {share}",
        )
    else:
        yield critical(
            f"{where}: {name}: {text} is no whole number: the pod is refused", fix=f"{name}: 1"
        )


def _is_whole(text: str) -> bool:
    """Whether a quantity is a whole number, also as ``1.0`` or ``2000m`` (thousandths)."""
    if _NUMBER.fullmatch(text):
        return float(text) == int(float(text))
    return bool(_THOUSANDTHS.fullmatch(text)) and int(text[:-1]) % 1000 == 0


def _is_fraction(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text) or _THOUSANDTHS.fullmatch(text))


def _quota(path: Path, document: Any) -> Iterator[Result]:
    """Extended resources are limited by their requests alone."""
    spec = document.get("spec")
    hard = spec.get("hard") if isinstance(spec, Mapping) else None
    if not isinstance(hard, Mapping):
        return
    for name, value in hard.items():
        plain = str(name).removeprefix("requests.").removeprefix("limits.")
        if not plain.startswith(_VENDOR):
            continue
        where = _at(path, hard, name)
        if not str(name).startswith("requests."):
            yield critical(
                f"{where}: {name}: a quota limits extended resources by requests alone",
                fix=f"requests.{plain}: {value}",
            )
        yield from _amount(where, str(name), value)


def _pods(path: Path, document: Any) -> Iterator[Result]:
    """What a pod with several GPUs needs besides."""
    for node in _mappings(document):
        containers = node.get("containers")
        if _is_list(containers):
            yield from _pod(path, node, containers)


def _pod(path: Path, pod: Any, containers: Any) -> Iterator[Result]:
    most = max((_gpus(container) for container in containers), default=0)
    if most > 1 and not pod.get("hostIPC") and not _has_shared_memory(pod):
        yield warning(
            f"{_at(path, pod, 'containers')}: {most} GPUs with 64 MiB of /dev/shm: data loaders "
            "and NCCL will fail",
            fix="volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}], "
            "mounted at /dev/shm",
        )


def _gpus(container: Any) -> int:
    resources = container.get("resources") if isinstance(container, Mapping) else None
    limits = resources.get("limits") if isinstance(resources, Mapping) else None
    value = limits.get(GPU) if isinstance(limits, Mapping) else None
    return int(str(value)) if str(value).isdecimal() else 0


def _has_shared_memory(pod: Any) -> bool:
    volumes = pod.get("volumes")
    if not _is_list(volumes):
        return False
    for volume in volumes:
        empty = volume.get("emptyDir") if isinstance(volume, Mapping) else None
        if isinstance(empty, Mapping) and empty.get("medium") == "Memory":
            return True
    return False


def _is_list(node: Any) -> bool:
    return isinstance(node, Sequence) and not isinstance(node, str | bytes)


def _at(path: Path, table: Any, key: Any) -> str:
    """``file:line:column`` of a key."""
    try:
        line, column = table.lc.key(key)
    except (AttributeError, KeyError, TypeError):
        return str(path)
    return f"{path}:{line + 1}:{column + 1}"
