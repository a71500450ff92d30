"""The Debian packages that are installed on a node, as far as its services and driver tell.

Names and the form of versions are those of Ubuntu 22.04, NVIDIA's CUDA repository for it, Slurm's
own Debian packages and Kubernetes'.
"""

from __future__ import annotations

from dataclasses import dataclass

from fakes.node import Node
from fakes.system.kernel import RELEASE
from fakes.system.services import UnknownUnitError

_KERNEL_BUILD = "5.15.0-126.136"
_OF_UBUNTU = (
    ("dmidecode", "3.3-3ubuntu0.2", "SMBIOS/DMI table decoder"),
    ("ethtool", "1:5.16-1ubuntu0.1", "display or change Ethernet device settings"),
    ("infiniband-diags", "39.0-1", "InfiniBand diagnostic programs"),
    ("ipmitool", "1.8.18-11ubuntu2.1", "utility for IPMI control"),
    ("nvme-cli", "1.16-3ubuntu0.3", "NVMe management tool"),
    ("numactl", "2.0.14-3ubuntu2", "NUMA scheduling and memory placement tool"),
    ("openssh-server", "1:8.9p1-3ubuntu0.10", "secure shell (SSH) server"),
    ("pciutils", "1:3.7.0-6", "PCI utilities"),
    ("rdma-core", "39.0-1", "RDMA core userspace infrastructure and documentation"),
    ("smartmontools", "7.2-1ubuntu2", "control and monitor storage systems using S.M.A.R.T."),
)


@dataclass(frozen=True, slots=True, order=True)
class Package:
    """One of them: its name, version, architecture, and the line that tells what it is."""

    name: str
    version: str
    architecture: str
    about: str


def packages(node: Node) -> tuple[Package, ...]:
    """All of them, by name."""
    found = [Package(name, version, "amd64", about) for name, version, about in _OF_UBUNTU]
    image = "Signed kernel image generic"
    found.append(Package(f"linux-image-{RELEASE}", _KERNEL_BUILD, "amd64", image))
    if node.gpus:
        found += _of_nvidia(node)
    for unit, package, form, about in _OF_SERVICES:
        try:
            version = node.services.find(unit).unit.version
        except UnknownUnitError:
            continue
        found.append(
            Package(package, form.format(version or _UNVERSIONED[package]), "amd64", about)
        )
    return tuple(sorted(found))


_OF_SERVICES = (
    ("nvidia-dcgm", "datacenter-gpu-manager", "1:{}", "NVIDIA Data Center GPU Manager"),
    ("slurmd", "slurm-smd-slurmd", "{}-1", "Slurm Workload Manager compute node daemon"),
    ("kubelet", "kubelet", "{}-1.1", "Node agent of Kubernetes"),
    ("containerd", "containerd.io", "{}-1", "An open and reliable container runtime"),
    ("docker", "docker-ce", "5:{}-1~ubuntu.22.04~jammy", "Docker: the container engine"),
)
_UNVERSIONED = {"kubelet": "1.30.4", "containerd.io": "1.7.24", "docker-ce": "27.4.0"}


def _of_nvidia(node: Node) -> list[Package]:
    version = node.driver.version
    branch = version.partition(".")[0]
    built = f"{version}-0ubuntu1"
    cuda = ".".join(map(str, node.driver.cuda))
    dashed = cuda.replace(".", "-")
    named = [
        (f"libnvidia-compute-{branch}", built, "NVIDIA libcompute package"),
        (f"nvidia-compute-utils-{branch}", built, "NVIDIA compute utilities"),
        (f"nvidia-dkms-{branch}-open", built, "NVIDIA DKMS package (open kernel module)"),
        (f"nvidia-driver-{branch}-open", built, "NVIDIA driver (open kernel) metapackage"),
        (f"nvidia-kernel-common-{branch}", built, "Shared files used with the kernel module"),
        (f"nvidia-utils-{branch}", built, "NVIDIA driver support binaries"),
        ("nvidia-container-toolkit", "1.17.4-1", "NVIDIA Container toolkit"),
        (f"cuda-toolkit-{dashed}", f"{cuda}.1-1", f"CUDA Toolkit {cuda} meta-package"),
        (f"cuda-nvcc-{dashed}", f"{cuda}.93-1", "CUDA nvcc"),
    ]
    if any(service.name == "nvidia-fabricmanager.service" for service in node.services):
        named.append(
            (f"nvidia-fabricmanager-{branch}", f"{version}-1", "Fabric Manager for NVSwitch")
        )
    return [Package(name, built, "amd64", about) for name, built, about in named]
