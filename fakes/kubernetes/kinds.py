"""The kinds of objects that kubectl knows here: their names, short names, and columns."""

from __future__ import annotations

import time
from calendar import timegm
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from fakes.kubernetes import objects
from fakes.kubernetes.objects import VERSION, is_ready, node_object, stamp
from fakes.kubernetes.state import Object
from fakes.world import World

Cells = Sequence[str]


@dataclass(frozen=True, slots=True)
class Kind:
    """``names`` are those that it goes by, the plural first; ``wide`` are columns of -o wide.

    ``cells`` are an object's columns, those of -o wide at the end.
    """

    kind: str
    names: tuple[str, ...]
    headings: Cells
    wide: Cells
    all_of: Callable[[World], Iterator[Object]]
    cells: Callable[[World, Object], Cells]
    group: str = ""
    namespaced: bool = True

    @property
    def written(self) -> str:
        """As it stands before a slash: ``node``, ``job.batch``."""
        singular = self.kind.lower()
        return f"{singular}.{self.group}" if self.group else singular


def age(world: World, created: str) -> str:
    """How old something is, as kubectl rounds it."""
    now = timegm(time.strptime(stamp(world, world.now_us), "%Y-%m-%dT%H:%M:%SZ"))
    return duration(now - timegm(time.strptime(created, "%Y-%m-%dT%H:%M:%SZ")))


def duration(seconds: int) -> str:
    """A span as kubectl rounds it.

    >>> [duration(s) for s in (5, 130, 700, 90000, 800000)]
    ['5s', '2m10s', '11m', '25h', '9d']
    """
    if seconds < 120:
        return f"{max(seconds, 0)}s"
    minutes, hours = seconds // 60, seconds // 3600
    if minutes < 10:
        rest = seconds % 60
        return f"{minutes}m{rest}s" if rest else f"{minutes}m"
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        rest = minutes % 60
        return f"{hours}h{rest}m" if rest else f"{hours}h"
    return f"{hours}h" if hours < 48 else f"{hours // 24}d"


# --- columns --------------------------------------------------------------------------------------


def _nodes(world: World) -> Iterator[Object]:
    return (node_object(world, name) for name in world.nodes)


def node_status(world: World, node: Object) -> str:
    """``Ready``, ``NotReady,SchedulingDisabled``."""
    ready = "Ready" if is_ready(world.nodes[node["metadata"]["name"]]) else "NotReady"
    return f"{ready},SchedulingDisabled" if node["spec"].get("unschedulable") else ready


def _node_cells(world: World, node: Object) -> Cells:
    info = node["status"]["nodeInfo"]
    return (
        node["metadata"]["name"], node_status(world, node), "<none>",
        age(world, node["metadata"]["creationTimestamp"]), VERSION,
        node["status"]["addresses"][0]["address"], "<none>", info["osImage"],
        info["kernelVersion"], info["containerRuntimeVersion"],
    )  # fmt: skip


def _pod_cells(world: World, pod: Object) -> Cells:
    phase, statuses = pod["status"]["phase"], pod["status"].get("containerStatuses", [])
    words = {"Succeeded": "Completed", "Failed": "Error"}
    ready = sum(one["ready"] for one in statuses)
    created = age(world, pod["metadata"]["creationTimestamp"])
    return (
        pod["metadata"]["name"], f"{ready}/1", words.get(phase, phase), "0", created,
        pod["status"].get("podIP", "<none>"), pod["spec"].get("nodeName", "<none>"), "<none>",
        "<none>",
    )  # fmt: skip


def _job_cells(world: World, job: Object) -> Cells:
    done, all_of = job["status"].get("succeeded", 0), job["spec"]["completions"]
    conditions = job["status"].get("conditions", [])
    word = conditions[0]["type"] if conditions else "Running"
    created = age(world, job["metadata"]["creationTimestamp"])
    return (job["metadata"]["name"], word, f"{done}/{all_of}", created, created,
            "main", "nvcr.io/nvidia/pytorch:24.05-py3", "<none>")  # fmt: skip


def _daemon_cells(world: World, daemon: Object) -> Cells:
    status, name = daemon["status"], daemon["metadata"]["name"]
    counts = (
        status["desiredNumberScheduled"], status["currentNumberScheduled"], status["numberReady"],
        status["updatedNumberScheduled"], status["numberAvailable"],
    )  # fmt: skip
    created = age(world, daemon["metadata"]["creationTimestamp"])
    return (name, *map(str, counts), "<none>", created, name, name, f"app={name}")


def _event_cells(world: World, event: Object) -> Cells:
    about = event["involvedObject"]
    return (
        age(world, event["lastTimestamp"]), event["type"], event["reason"],
        f"{about['kind'].lower()}/{about['name']}", event["message"],
    )  # fmt: skip


def _plain_cells(world: World, thing: Object) -> Cells:
    return (thing["metadata"]["name"], age(world, thing["metadata"]["creationTimestamp"]))


def _namespace_cells(world: World, thing: Object) -> Cells:
    name, created = _plain_cells(world, thing)
    return (name, "Active", created)


def _priority_cells(world: World, thing: Object) -> Cells:
    is_default = str(bool(thing.get("globalDefault"))).lower()
    name, created = _plain_cells(world, thing)
    return (name, str(thing.get("value", 0)), is_default, created)


def _applied(kind: str) -> Callable[[World], Iterator[Object]]:
    def all_of(world: World) -> Iterator[Object]:
        known = world.cluster.kubernetes.applied
        return (thing for key, thing in known.items() if key[0] == kind)

    return all_of


KINDS = (
    Kind("Node", ("nodes", "node", "no"), ("NAME", "STATUS", "ROLES", "AGE", "VERSION"),
         ("INTERNAL-IP", "EXTERNAL-IP", "OS-IMAGE", "KERNEL-VERSION", "CONTAINER-RUNTIME"),
         _nodes, _node_cells, namespaced=False),
    Kind("Pod", ("pods", "pod", "po"), ("NAME", "READY", "STATUS", "RESTARTS", "AGE"),
         ("IP", "NODE", "NOMINATED NODE", "READINESS GATES"), objects.pods, _pod_cells),
    Kind("Job", ("jobs", "job", "jobs.batch"),
         ("NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"), ("CONTAINERS", "IMAGES", "SELECTOR"),
         objects.jobs, _job_cells, "batch"),
    Kind("DaemonSet", ("daemonsets", "daemonset", "ds"),
         ("NAME", "DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "NODE SELECTOR", "AGE"),
         ("CONTAINERS", "IMAGES", "SELECTOR"), objects.daemon_sets, _daemon_cells, "apps"),
    Kind("Event", ("events", "event", "ev"), ("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"),
         (), objects.events, _event_cells),
    Kind("Namespace", ("namespaces", "namespace", "ns"), ("NAME", "STATUS", "AGE"), (),
         objects.namespaces, _namespace_cells, namespaced=False),
    Kind("PriorityClass", ("priorityclasses", "priorityclass", "pc"),
         ("NAME", "VALUE", "GLOBAL-DEFAULT", "AGE"), (), _applied("PriorityClass"),
         _priority_cells, "scheduling.k8s.io", namespaced=False),
    Kind("ResourceQuota", ("resourcequotas", "resourcequota", "quota"), ("NAME", "AGE"), (),
         _applied("ResourceQuota"), _plain_cells),
    Kind("ConfigMap", ("configmaps", "configmap", "cm"), ("NAME", "AGE"), (),
         _applied("ConfigMap"), _plain_cells),
)  # fmt: skip


def kind_named(name: str) -> Kind | None:
    """A kind by any of its names."""
    lower = name.lower()
    return next((kind for kind in KINDS if lower in kind.names), None)


def kind_of(thing: Object) -> Kind | None:
    """The kind of an object."""
    return next((kind for kind in KINDS if kind.kind == thing.get("kind")), None)
