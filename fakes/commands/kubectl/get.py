"""``kubectl get`` and ``describe``: tables, JSON, YAML, names, JSONPath, columns of one's own."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

from ruamel.yaml import YAML

from fakes.commands.kubectl.caller import (
    Caller,
    RefusedError,
    UnknownHereError,
    chosen,
    resources,
)
from fakes.kubernetes.jsonpath import PathError, fill, values
from fakes.kubernetes.kinds import Kind, age
from fakes.kubernetes.objects import GPU, pods
from fakes.kubernetes.state import Object

_GAP = 3


_HEALTH = ("/healthz", "/livez", "/readyz")


def get(caller: Caller) -> int:
    """Print what is meant."""
    if "raw" in caller.options:
        if caller.options["raw"] not in _HEALTH:
            raise UnknownHereError(f"--raw {caller.options['raw']}: this is not known here")
        caller.out.write("ok")
        return 0
    listed = caller.words[1].split(",") if len(caller.words) > 1 else []
    if len(listed) > 1:
        for at, name in enumerate(listed):
            caller.out.write("\n" if at else "")
            _get(caller, [name])
        return 0
    return _get(caller, caller.words[1:])


def _get(caller: Caller, words: Sequence[str]) -> int:
    kind, names = resources(words)
    found = chosen(caller, kind, names)
    if "sort-by" in caller.options:
        path = caller.options["sort-by"].strip("{}")
        found.sort(key=lambda one: [str(value) for value in values(path, one)])
    form, _, rest = caller.options.get("output", "").partition("=")
    if form in ("", "wide"):
        _print_table(caller, kind, found, wide=form == "wide")
    elif form == "name":
        caller.out.writelines(f"{kind.written}/{one['metadata']['name']}\n" for one in found)
    elif form in ("json", "yaml"):
        alone = len(names) == 1 and found
        thing = found[0] if alone else _list(found)
        caller.out.write(_text(thing, form))
    elif form in ("jsonpath", "jsonpath-as-json"):
        thing = found[0] if len(names) == 1 and found else _list(found)
        try:
            caller.out.write(fill(rest, thing))
        except PathError as error:
            raise UnknownHereError(str(error)) from error
    elif form == "custom-columns":
        _print_columns(caller, found, rest)
    else:
        raise UnknownHereError(f"-o {form}: this form is not known here")
    return 0


def _list(found: Sequence[Object]) -> Object:
    return {"apiVersion": "v1", "items": list(found), "kind": "List",
            "metadata": {"resourceVersion": ""}}  # fmt: skip


def _text(thing: Object, form: str) -> str:
    if form == "json":
        return json.dumps(thing, indent=4, sort_keys=True) + "\n"
    written = io.StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.dump(json.loads(json.dumps(thing, sort_keys=True)), written)
    return written.getvalue()


def _print_table(caller: Caller, kind: Kind, found: Sequence[Object], *, wide: bool) -> None:
    if not found:
        if not {"ignore-not-found"} & caller.options.keys():
            where = f" in {caller.namespace} namespace" if kind.namespaced else ""
            where = "" if "all-namespaces" in caller.options else where
            caller.err.write(f"No resources found{where}\n" if where else "No resources found\n")
        return
    count = len(kind.headings)
    headings = [*kind.headings, *(kind.wide if wide else ())]
    rows = [
        list(kind.cells(caller.world, one)[: count + (len(kind.wide) if wide else 0)])
        for one in found
    ]
    if "show-labels" in caller.options:
        headings.append("LABELS")
        for row, one in zip(rows, found, strict=True):
            labels = one["metadata"].get("labels", {})
            row.append(",".join(f"{key}={value}" for key, value in labels.items()) or "<none>")
    for name in caller.options.get("label-columns", "").split(","):
        if name:
            headings.append(name.rpartition("/")[2].upper())
            for row, one in zip(rows, found, strict=True):
                row.append(one["metadata"].get("labels", {}).get(name, ""))
    if kind.namespaced and "all-namespaces" in caller.options:
        headings.insert(0, "NAMESPACE")
        for row, one in zip(rows, found, strict=True):
            row.insert(0, one["metadata"].get("namespace", ""))
    _print_rows(caller, headings, rows)


def _print_columns(caller: Caller, found: Sequence[Object], text: str) -> None:
    columns = [part.partition(":") for part in text.split(",")]
    rows = [
        [",".join(str(value) for value in values(path, one)) or "<none>" for _, _, path in columns]
        for one in found
    ]
    _print_rows(caller, [heading for heading, _, _ in columns], rows)


def _print_rows(caller: Caller, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    shown = list(rows) if "no-headers" in caller.options else [headings, *rows]
    widths = [max(len(row[at]) for row in shown) + _GAP for at in range(len(headings))]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        caller.out.write("".join(cells).rstrip() + "\n")


# --- describe -------------------------------------------------------------------------------------


def describe(caller: Caller) -> int:
    """Print all of what is meant, for people."""
    kind, names = resources(caller.words[1:])
    found = chosen(caller, kind, names)
    if not found and names:
        raise RefusedError("No resources found")
    for at, one in enumerate(found):
        caller.out.write("\n\n" if at else "")
        if kind.kind == "Node":
            _describe_node(caller, one)
        else:
            _describe(caller, one)
    return 0


def _describe_node(caller: Caller, node: Object) -> None:
    out, meta, status = caller.out, node["metadata"], node["status"]
    taints = [
        f"{one['key']}{'=' + one['value'] if one.get('value') else ''}:{one['effect']}"
        for one in node["spec"].get("taints", [])
    ]
    out.write(f"Name:               {meta['name']}\nRoles:              <none>\n")
    _lines(caller, "Labels:", [f"{key}={value}" for key, value in meta["labels"].items()])
    _lines(caller, "Annotations:", [f"{k}: {v}" for k, v in meta["annotations"].items()])
    out.write(f"CreationTimestamp:  {meta['creationTimestamp']}\n")
    _lines(caller, "Taints:", taints)
    unschedulable = str(bool(node["spec"].get("unschedulable"))).lower()
    out.write(f"Unschedulable:      {unschedulable}\nConditions:\n")
    out.write("  Type             Status  Reason                       Message\n")
    out.write("  ----             ------  ------                       -------\n")
    for one in status["conditions"]:
        line = f"  {one['type']:<16} {one['status']:<7} {one['reason']:<28} {one['message']}"
        out.write(f"{line.rstrip()}\n")
    out.write("Addresses:\n")
    out.writelines(f"  {one['type']}:  {one['address']}\n" for one in status["addresses"])
    for word in ("Capacity", "Allocatable"):
        out.write(f"{word}:\n")
        rows = status[word.lower()].items()
        out.writelines(f"  {name + ':':<19}{value}\n" for name, value in rows)
    here = [one for one in pods(caller.world) if one["spec"].get("nodeName") == meta["name"]]
    out.write(f"Non-terminated Pods:          ({len(here)} in total)\n")
    used = 0
    for one in here:
        if one["status"]["phase"] == "Running":
            limits = one["spec"]["containers"][0].get("resources", {}).get("limits", {})
            used += int(limits.get(GPU, 0))
            name, space = one["metadata"]["name"], one["metadata"]["namespace"]
            out.write(f"  {space:<26} {name}\n")
    out.write("Allocated resources:\n  Resource           Requests    Limits\n")
    out.write(f"  {GPU:<18} {used:<11} {used}\n")
    out.write("Events:              <none>\n")


def _describe(caller: Caller, thing: Object) -> None:
    meta = thing["metadata"]
    rows = [("Name", meta["name"])]
    rows += [("Namespace", meta["namespace"])] if "namespace" in meta else []
    node = thing.get("spec", {}).get("nodeName")
    rows += [("Node", f"{node}/{caller.world.nodes[node].address}")] if node else []
    phase = thing.get("status", {}).get("phase")
    rows += [("Status", str(phase))] if phase else []
    rows.append(("Age", age(caller.world, meta["creationTimestamp"])))
    caller.out.writelines(f"{name + ':':<18}{value}\n" for name, value in rows)
    _lines(caller, "Labels:", [f"{key}={value}" for key, value in meta.get("labels", {}).items()])
    caller.out.write("Events:           <none>\n")


def _lines(caller: Caller, name: str, values_: Sequence[str]) -> None:
    """A list beside its name, an entry a line."""
    for at, value in enumerate(values_ or ["<none>"]):
        caller.out.write(f"{name if at == 0 else '':<20}{value}\n")
