"""The objects of the cluster: nodes, pods, jobs, daemon sets, events, as the API has them (v1.30).

A job of the world is a Job with a pod on each of its nodes; every node has the pods of the usual
daemon sets. What the device plug-in takes for unhealthy is not allocatable any more.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from fakes.hardware.noise import mix
from fakes.jobs.records import ClusterJob, Phase
from fakes.kubernetes.labels import node_labels
from fakes.kubernetes.state import Object
from fakes.node import Node
from fakes.slurm.states import CPUS, MEMORY_MB
from fakes.system.kernel import RELEASE
from fakes.world import World

GPU = "nvidia.com/gpu"
VERSION = "v1.30.6"
SYSTEM = "gpu-operator"

DAEMON_SETS = {
    "kube-system": ("kube-proxy", "calico-node"),
    SYSTEM: ("nvidia-device-plugin-daemonset", "nvidia-dcgm-exporter",
             "gpu-feature-discovery", "nvidia-operator-validator"),
}  # fmt: skip
PHASES = {
    Phase.PENDING: "Pending", Phase.RUNNING: "Running", Phase.SUSPENDED: "Running",
    Phase.COMPLETED: "Succeeded", Phase.FAILED: "Failed", Phase.CANCELLED: "Failed",
    Phase.TIMEOUT: "Failed", Phase.NODE_FAIL: "Failed",
}  # fmt: skip
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def stamp(world: World, at_us: int) -> str:
    """A moment as the API writes it."""
    epoch = next(iter(world.nodes.values())).epoch
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch.unix_us(at_us) / 1e6))


def unhealthy_gpus(node: Node) -> int:
    """GPUs that the device plug-in has taken out: lost ones, and those that ask for a reset."""
    return sum(gpu.lost is not None or gpu.reset_required for gpu in node.gpus)


def is_ready(node: Node) -> bool:
    """Whether its kubelet reports."""
    return node.runs("kubelet.service")


# --- nodes ----------------------------------------------------------------------------------------


def node_object(world: World, name: str) -> Object:
    """A node."""
    node, cluster = world.nodes[name], world.cluster
    state, count = cluster.kubernetes, len(node.gpus)
    ready = is_ready(node)
    taints = list(state.taints.get(name, ()))
    drain = cluster.nodes[name].drain
    spec: Object = {"podCIDR": "10.244.0.0/24", "providerID": f"fake://{name}"}
    if drain is not None:
        spec["unschedulable"] = True
        taints.append(
            {"effect": "NoSchedule", "key": "node.kubernetes.io/unschedulable",
             "timeAdded": stamp(world, drain.at_us)}
        )  # fmt: skip
    if not ready:
        taints.append({"effect": "NoSchedule", "key": "node.kubernetes.io/unreachable"})
        taints.append({"effect": "NoExecute", "key": "node.kubernetes.io/unreachable"})
    if taints:
        spec["taints"] = taints
    resources = {
        "cpu": str(CPUS), "ephemeral-storage": "3747905Mi", "hugepages-1Gi": "0",
        "memory": f"{MEMORY_MB}Mi", GPU: str(count), "pods": "110",
    }  # fmt: skip
    usable = count - unhealthy_gpus(node) if ready else 0
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": dict(state.annotations.get(name, {})),
            "creationTimestamp": stamp(world, -30 * 86_400_000_000),
            "labels": node_labels(world, name),
            "name": name,
            "resourceVersion": "1",
            "uid": _uid(name),
        },
        "spec": spec,
        "status": {
            "addresses": [
                {"address": node.address, "type": "InternalIP"},
                {"address": name, "type": "Hostname"},
            ],
            "allocatable": {**resources, GPU: str(usable)},
            "capacity": resources,
            "conditions": list(_conditions(world, node, ready)),
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": _uid(f"{name}/{node.boots}"),
                "containerRuntimeVersion": "containerd://1.7.22",
                "kernelVersion": RELEASE,
                "kubeletVersion": VERSION,
                "kubeProxyVersion": VERSION,
                "operatingSystem": "linux",
                "osImage": "Ubuntu 22.04.5 LTS",
            },
        },
    }


def _conditions(world: World, node: Node, ready: bool) -> Iterator[Object]:
    now = stamp(world, world.now_us)
    rows = (
        ("MemoryPressure", "False", "KubeletHasSufficientMemory",
         "kubelet has sufficient memory available"),
        ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
        ("PIDPressure", "False", "KubeletHasSufficientPID",
         "kubelet has sufficient PID available"),
        ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
    )  # fmt: skip
    for kind, status, reason, message in rows:
        gone = ("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")
        shown = (status, reason, message) if ready else gone
        yield {
            "lastHeartbeatTime": now,
            "lastTransitionTime": stamp(world, node.booted_us or 0),
            "message": shown[2],
            "reason": shown[1],
            "status": shown[0],
            "type": kind,
        }


# --- pods -----------------------------------------------------------------------------------------


def pods(world: World) -> Iterator[Object]:
    """Every pod: those of jobs, then those of daemon sets."""
    for job in world.cluster.jobs.values():
        yield from job_pods(world, job)
    for name in world.nodes:
        for namespace, sets in DAEMON_SETS.items():
            for daemon in sets:
                yield _daemon_pod(world, namespace, daemon, name)


def job_pods(world: World, job: ClusterJob) -> Iterator[Object]:
    """The pods of a job: one a node, or as many as it waits for."""
    manifest = world.cluster.kubernetes.owned.get(job.number)
    namespace = manifest["metadata"].get("namespace", "default") if manifest else "default"
    placed = job.is_placed or (job.phase is not Phase.PENDING and job.nodes)
    names: list[str] = list(job.nodes) if placed else [""] * job.node_count
    for at, node in enumerate(names):
        is_pod = manifest is not None and manifest["kind"] == "Pod"
        name = job.title if is_pod else f"{job.title}-{at}-{_suffix(job.number * 64 + at)}"
        pod = _pod(world, namespace, name, node, PHASES[job.phase], job.started_us)
        labels = dict(manifest["metadata"].get("labels", {})) if manifest else {}
        if not is_pod:
            labels |= {"batch.kubernetes.io/job-name": job.title, "job-name": job.title}
            pod["metadata"]["ownerReferences"] = [
                {"apiVersion": "batch/v1", "controller": True, "kind": "Job", "name": job.title}
            ]
        pod["metadata"]["labels"] = labels
        count = str(job.gpus_per_node)
        container = pod["spec"]["containers"][0]
        container["name"] = "main"
        if job.gpus_per_node:
            container["resources"] = {"limits": {GPU: count}, "requests": {GPU: count}}
        if manifest is not None:
            template = _pod_spec(manifest)
            for key in ("volumes", "nodeSelector", "tolerations", "priorityClassName"):
                if key in template:
                    pod["spec"][key] = template[key]
        yield pod


def _pod_spec(manifest: Object) -> Object:
    spec: Object = manifest.get("spec", {})
    return spec if manifest["kind"] == "Pod" else spec.get("template", {}).get("spec", {})


def _pod(
    world: World, namespace: str, name: str, node: str, phase: str, started_us: int | None
) -> Object:
    ready = phase == "Running" and (not node or is_ready(world.nodes[node]))
    began = stamp(world, started_us or 0)
    spec: Object = {
        "containers": [{"image": "nvcr.io/nvidia/pytorch:24.05-py3", "name": name}],
        "restartPolicy": "Never",
    }
    status: Object = {"phase": phase, "startTime": began}
    if node:
        spec["nodeName"] = node
        status |= {"hostIP": world.nodes[node].address, "podIP": f"10.244.0.{len(name) % 200 + 10}"}
    flags = {"Initialized": True, "Ready": ready, "ContainersReady": ready,
             "PodScheduled": bool(node)}  # fmt: skip
    status["conditions"] = [{"status": str(value), "type": kind} for kind, value in flags.items()]
    if node:
        running = {"running": {"startedAt": began}}
        well = phase == "Succeeded"
        ended = {
            "terminated": {
                "exitCode": 0 if well else 1,
                "reason": "Completed" if well else "Error",
            }
        }
        status["containerStatuses"] = [
            {"name": spec["containers"][0]["name"], "ready": ready, "restartCount": 0,
             "state": running if phase == "Running" else ended}
        ]  # fmt: skip
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "creationTimestamp": began,
            "labels": {},
            "name": name,
            "namespace": namespace,
            "uid": _uid(f"{namespace}/{name}"),
        },
        "spec": spec,
        "status": status,
    }


def _daemon_pod(world: World, namespace: str, daemon: str, node: str) -> Object:
    name = f"{daemon}-{_suffix(hash_of(daemon + node))}"
    pod = _pod(world, namespace, name, node, "Running", -86_400_000_000)
    pod["metadata"]["labels"] = {"app": daemon}
    pod["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "controller": True, "kind": "DaemonSet", "name": daemon}
    ]
    pod["spec"]["containers"][0]["name"] = daemon
    return pod


# --- the rest -------------------------------------------------------------------------------------


def jobs(world: World) -> Iterator[Object]:
    """Every Job."""
    for job in world.cluster.jobs.values():
        manifest = world.cluster.kubernetes.owned.get(job.number)
        if manifest is not None and manifest["kind"] != "Job":
            continue
        active = job.node_count if job.is_active else 0
        status: Object = {"startTime": stamp(world, job.submitted_us)}
        if active:
            status |= {"active": active, "ready": active if job.is_placed else 0}
        elif job.phase is Phase.COMPLETED:
            status |= {"succeeded": job.node_count,
                       "completionTime": stamp(world, job.ended_us or 0),
                       "conditions": [{"status": "True", "type": "Complete"}]}  # fmt: skip
        else:
            status |= {"failed": 1, "conditions": [{"status": "True", "type": "Failed"}]}
        metadata = manifest["metadata"] if manifest else {}
        yield {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "creationTimestamp": stamp(world, job.submitted_us),
                "labels": dict(metadata.get("labels", {})),
                "name": job.title,
                "namespace": metadata.get("namespace", "default"),
                "uid": _uid(f"job/{job.number}"),
            },
            "spec": {"completions": job.node_count, "parallelism": job.node_count},
            "status": status,
        }


def daemon_sets(world: World) -> Iterator[Object]:
    """Every DaemonSet."""
    count, ready = len(world.nodes), sum(is_ready(node) for node in world.nodes.values())
    for namespace, sets in DAEMON_SETS.items():
        for name in sets:
            yield {
                "apiVersion": "apps/v1",
                "kind": "DaemonSet",
                "metadata": {
                    "creationTimestamp": stamp(world, -30 * 86_400_000_000),
                    "labels": {"app": name},
                    "name": name,
                    "namespace": namespace,
                },
                "spec": {"selector": {"matchLabels": {"app": name}}},
                "status": {
                    "currentNumberScheduled": count,
                    "desiredNumberScheduled": count,
                    "numberAvailable": ready,
                    "numberReady": ready,
                    "updatedNumberScheduled": count,
                },
            }


def events(world: World) -> Iterator[Object]:
    """What the cluster tells of nodes: cordons, kubelets that fell silent, GPUs taken out."""
    for name, node in world.nodes.items():
        drain = world.cluster.nodes[name].drain
        if drain is not None:
            text = f"Node {name} status is now: NodeNotSchedulable"
            yield _event(world, name, "Normal", "NodeNotSchedulable", text, drain.at_us)
        if not is_ready(node):
            text = f"Node {name} status is now: NodeNotReady"
            yield _event(world, name, "Warning", "NodeNotReady", text, world.now_us)
    for job in world.cluster.jobs.values():
        if job.phase is Phase.PENDING:
            text = f"0/{len(world.nodes)} nodes are available: Insufficient {GPU}."
            first = next(job_pods(world, job), None)
            if first is not None:
                event = _event(world, first["metadata"]["name"], "Warning", "FailedScheduling",
                               text, job.submitted_us)  # fmt: skip
                event["involvedObject"]["kind"] = "Pod"
                yield event


def _event(world: World, name: str, kind: str, reason: str, text: str, at_us: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "type": kind,
        "reason": reason,
        "message": text,
        "lastTimestamp": stamp(world, at_us),
        "involvedObject": {"kind": "Node", "name": name},
        "metadata": {"name": f"{name}.{_suffix(at_us)}", "namespace": "default",
                     "creationTimestamp": stamp(world, at_us)},
    }  # fmt: skip


def namespaces(world: World) -> Iterator[Object]:
    """Every namespace."""
    written = {key[1] for key in world.cluster.kubernetes.applied if key[1]}
    named = {key[2] for key in world.cluster.kubernetes.applied if key[0] == "Namespace"}
    for name in sorted({"default", *DAEMON_SETS, *written, *named}):
        yield {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name, "creationTimestamp": stamp(world, -30 * 86_400_000_000)},
            "status": {"phase": "Active"},
        }


def hash_of(text: str) -> int:
    """A number that is a text's own."""
    number = 0
    for letter in text:
        number = mix(number, ord(letter))
    return number


def _suffix(number: int) -> str:
    """Five letters as pods' names end in."""
    bits = mix(number, 5)
    found = ""
    for _ in range(5):
        bits, at = divmod(bits, len(_LETTERS))
        found += _LETTERS[at]
    return found


def _uid(text: str) -> str:
    digits = f"{hash_of(text):016x}{hash_of(text + '/'):016x}"[:32]
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))
