"""``kubectl patch`` of nodes: whether pods may be placed on one, its labels and annotations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from fakes.commands.kubectl.caller import (
    Caller,
    RefusedError,
    UnknownHereError,
    chosen,
    resources,
)

_REMOVED = "\0"
"""What is left of a label that a node would have by itself (fakes/kubernetes/labels.py)."""


def patch(caller: Caller) -> int:
    """Merge what ``-p`` says, as JSON or YAML, into each node."""
    kind, names = resources(caller.words[1:])
    if kind.kind != "Node" or caller.options.get("type", "strategic") == "json":
        raise UnknownHereError(f"patch {' '.join(caller.words[1:])}: this is not known here")
    if not caller.options.get("patch"):
        raise RefusedError("error: must specify --patch or --patch-file containing the contents")
    wanted = _read(caller.options["patch"])
    for one in chosen(caller, kind, names):
        name = one["metadata"]["name"]
        changed = _merge(caller, name, one, wanted) if not caller.is_dry else True
        caller.out.write(f"node/{name} patched{'' if changed else ' (no change)'}{caller.dry}\n")
    return 0


def _read(text: str) -> Mapping[str, Any]:
    try:
        found = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise RefusedError(f'error: unable to parse "{text}": yaml: invalid') from error
    if not isinstance(found, dict):
        raise RefusedError(f'error: unable to parse "{text}": yaml: not a mapping')
    return found


def _merge(caller: Caller, name: str, node: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether that changed anything. What cannot be changed here is not known here."""
    spec, metadata = wanted.get("spec") or {}, wanted.get("metadata") or {}
    strange = [*(set(wanted) - {"spec", "metadata"}), *(set(spec) - {"unschedulable"})]
    strange += set(metadata) - {"labels", "annotations"}
    if strange:
        raise UnknownHereError(f"patch of {strange[0]}: this is not known here")
    changed = False
    cluster = caller.world.cluster
    if "unschedulable" in spec:
        is_cordoned = cluster.nodes[name].drain is not None
        changed = bool(spec["unschedulable"]) is not is_cordoned
        if changed and spec["unschedulable"]:
            cluster.cordon(name, caller.user)
        elif changed:
            cluster.uncordon(name)
    tables = {"labels": cluster.kubernetes.labels, "annotations": cluster.kubernetes.annotations}
    for kind, table in tables.items():
        kept = table.setdefault(name, {})
        for key, value in (metadata.get(kind) or {}).items():
            changed = changed or node["metadata"][kind].get(key) != value
            if value is None and kind == "annotations":
                kept.pop(key, None)
            else:
                kept[key] = _REMOVED if value is None else str(value)
    return changed
