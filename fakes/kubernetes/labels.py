"""The labels of a node: Kubernetes' own, feature discovery's, and what somebody wrote.

Keys and the form of values are those of GPU Operator 24.9 with GPU feature discovery 0.17 and Node
Feature Discovery 0.16. They are written when the node joins, and a GPU that is lost later changes
none of them: what can still be given to pods is in ``allocatable``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fakes.node import Node
from fakes.profile import Profile
from fakes.system import machine
from fakes.system.kernel import RELEASE
from fakes.world import World

_REMOVED = "\0"
"""What ``kubectl label NODE KEY-`` leaves of a label that a node would have by itself."""
_FAMILIES = {5: "volta", 6: "turing", 7: "ampere", 8: "ada-lovelace", 9: "hopper", 10: "blackwell"}
"""By NVML's number of an architecture."""
_DEPLOYED = (
    "container-toolkit", "dcgm", "dcgm-exporter", "device-plugin", "driver",
    "gpu-feature-discovery", "node-status-exporter", "operator-validator",
)  # fmt: skip
_MELLANOX, _NVIDIA = "15b3", "10de"


def node_labels(world: World, name: str) -> dict[str, str]:
    """All of a node's labels, by key."""
    node = world.nodes[name]
    labels = dict(_of_kubernetes(name))
    labels.update(_of_features(node))
    if node.gpus:
        labels.update(_of_gpus(node))
    labels.update(world.cluster.kubernetes.labels.get(name, {}))
    return {key: value for key, value in sorted(labels.items()) if value != _REMOVED}


def _of_kubernetes(name: str) -> Iterator[tuple[str, str]]:
    yield "beta.kubernetes.io/arch", "amd64"
    yield "beta.kubernetes.io/os", "linux"
    yield "kubernetes.io/arch", "amd64"
    yield "kubernetes.io/hostname", name
    yield "kubernetes.io/os", "linux"


def _of_features(node: Node) -> Iterator[tuple[str, str]]:
    domain = "feature.node.kubernetes.io"
    yield f"{domain}/cpu-hardware_multithreading", "true"
    yield f"{domain}/cpu-model.family", str(machine.CPU_FAMILY)
    yield f"{domain}/cpu-model.id", str(machine.CPU_MODEL_NUMBER)
    yield f"{domain}/cpu-model.vendor_id", "Intel"
    major, minor, rest = RELEASE.split(".", 2)
    yield f"{domain}/kernel-version.full", RELEASE
    yield f"{domain}/kernel-version.major", major
    yield f"{domain}/kernel-version.minor", minor
    yield f"{domain}/kernel-version.revision", rest.partition("-")[0]
    yield f"{domain}/memory-numa", "true"
    if node.gpus:
        yield f"{domain}/pci-{_NVIDIA}.present", "true"
    if node.network.adapters:
        yield f"{domain}/pci-{_MELLANOX}.present", "true"
        yield f"{domain}/rdma.available", "true"
        yield f"{domain}/rdma.capable", "true"
    yield f"{domain}/storage-nonrotationaldisk", "true"
    yield f"{domain}/system-os_release.ID", "ubuntu"
    yield f"{domain}/system-os_release.VERSION_ID", "22.04"
    yield f"{domain}/system-os_release.VERSION_ID.major", "22"
    yield f"{domain}/system-os_release.VERSION_ID.minor", "04"


def _of_gpus(node: Node) -> Iterator[tuple[str, str]]:
    domain, profile = "nvidia.com", node.gpus[0].profile
    parts = node.driver.version.split(".")
    runtime = list(map(str, node.driver.cuda))
    for name, version in (("driver", parts), ("runtime", runtime)):
        yield f"{domain}/cuda.{name}-version.full", ".".join(version)
        for part, number in zip(("major", "minor", "revision"), version, strict=False):
            yield f"{domain}/cuda.{name}-version.{part}", number
        for part, number in zip(("major", "minor", "rev"), version, strict=False):
            yield f"{domain}/cuda.{name}.{part}", number
    capability = map(str, profile.compute_capability)
    for part, number in zip(("major", "minor"), capability, strict=True):
        yield f"{domain}/gpu.compute.{part}", number
    yield f"{domain}/gpu.count", str(len(node.gpus))
    for operand in _DEPLOYED:
        yield f"{domain}/gpu.deploy.{operand}", "true"
    yield f"{domain}/gpu.family", _FAMILIES.get(profile.architecture, "undefined")
    yield f"{domain}/gpu.machine", machine.PRODUCT.replace(" ", "-")
    yield f"{domain}/gpu.memory", str(profile.memory.total_mib)
    yield f"{domain}/gpu.mode", "compute"
    yield f"{domain}/gpu.present", "true"
    yield f"{domain}/gpu.product", profile.name.replace(" ", "-")
    yield f"{domain}/gpu.replicas", "1"
    yield f"{domain}/gpu.sharing-strategy", "none"
    yield from _of_instances(domain, profile)
    yield f"{domain}/mps.capable", "false"
    yield f"{domain}/vgpu.present", "false"


def _of_instances(domain: str, profile: Profile) -> Iterator[tuple[str, str]]:
    """What is told of MIG, which is off: no GPU is divided."""
    yield f"{domain}/mig.capable", str(profile.can.mig).lower()
    if profile.can.mig:
        yield f"{domain}/mig.config", "all-disabled"
        yield f"{domain}/mig.config.state", "success"
        yield f"{domain}/mig.strategy", "single"
