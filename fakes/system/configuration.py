"""/etc on a node: the operating system, and the configurations of what runs on a GPU server.

They are files that people may edit (``TextFiles``); nothing of the world goes
by these, but scripts read them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from fakes.slurm.hostlist import compress

if TYPE_CHECKING:
    from fakes.node import Node

_OS_RELEASE = """\
PRETTY_NAME="Ubuntu 22.04.5 LTS"
NAME="Ubuntu"
VERSION_ID="22.04"
VERSION="22.04.5 LTS (Jammy Jellyfish)"
VERSION_CODENAME=jammy
ID=ubuntu
ID_LIKE=debian
HOME_URL="https://www.ubuntu.com/"
UBUNTU_CODENAME=jammy
"""
_LSB_RELEASE = """\
DISTRIB_ID=Ubuntu
DISTRIB_RELEASE=22.04
DISTRIB_CODENAME=jammy
DISTRIB_DESCRIPTION="Ubuntu 22.04.5 LTS"
"""
_COUNTERS = """\
DCGM_FI_DEV_SM_CLOCK, gauge, SM clock frequency (in MHz).
DCGM_FI_DEV_GPU_TEMP, gauge, GPU temperature (in C).
DCGM_FI_DEV_POWER_USAGE, gauge, Power draw (in W).
DCGM_FI_DEV_XID_ERRORS, gauge, Value of the last XID error encountered.
"""
_RUNTIME = """\
disable-require = false
[nvidia-container-cli]
ldconfig = "@/sbin/ldconfig.real"
load-kmods = true
[nvidia-container-runtime]
log-level = "info"
mode = "auto"
"""
_PLAIN = {
    "/etc/os-release": _OS_RELEASE,
    "/etc/lsb-release": _LSB_RELEASE,
    "/etc/dcgm-exporter/default-counters.csv": _COUNTERS,
    "/etc/enroot/enroot.conf": "ENROOT_RUNTIME_PATH /run/enroot/user-$(id -u)\n",
    "/etc/nvidia-container-runtime/config.toml": _RUNTIME,
    "/etc/nvidia-imex/config.cfg": "LOG_FILE_NAME=/var/log/nvidia-imex.log\nSERVER_PORT=50000\n",
    "/etc/nvidia-imex/nodes_config.cfg": "",
    "/etc/modprobe.d/nvidia.conf": "options nvidia NVreg_EnableGpuFirmware=1\n",
    "/etc/modprobe.d/blacklist-nouveau.conf": "blacklist nouveau\noptions nouveau modeset=0\n",
    "/etc/resolv.conf": "search cluster.local\n",
}
_OF_SLURM = {
    "/etc/slurm/prolog.d/README": "Programs in this directory are run before a job's.\n",
    "/etc/slurm/epilog.d/README": "Programs in this directory are run after a job's.\n",
    "/etc/slurm/cgroup.conf": "ConstrainDevices=yes\nConstrainRAMSpace=yes\n",
    "/etc/slurm/topology.conf": "",
}


def provide(node: Node) -> None:
    """Let a node have these files."""
    for path, text in _PLAIN.items():
        node.files.provide(path, _constant(text))
    for path, text in _OF_SLURM.items():
        node.files.provide(path, _constant(text))
    node.files.provide("/etc/machine-id", lambda: f"{_machine_id(node.name)}\n")
    node.files.provide("/etc/slurm/slurm.conf", lambda: _slurm_conf(node))
    node.files.provide("/etc/slurm/gres.conf", lambda: _gres_conf(node))


def _constant(text: str) -> Callable[[], str]:
    return lambda: text


def _machine_id(name: str) -> str:
    """One for each node (machine-id(5))."""
    return hashlib.sha256(f"machine-id/{name}".encode()).hexdigest()[:32]


def _names(node: Node) -> str:
    return compress(node.world.nodes) if node.world is not None else node.name


def _slurm_conf(node: Node) -> str:
    names = _names(node)
    return (
        "ClusterName=cluster\nSlurmctldHost=head\nAuthType=auth/munge\n"
        "SelectType=select/cons_tres\nGresTypes=gpu\nSlurmdTimeout=300\nReturnToService=1\n"
        "Prolog=/etc/slurm/prolog.d/*\nEpilog=/etc/slurm/epilog.d/*\n"
        f"NodeName={names} Gres=gpu:{len(node.gpus)} State=UNKNOWN\n"
        f"PartitionName=gpu Nodes={names} Default=YES MaxTime=INFINITE State=UP\n"
    )


def _gres_conf(node: Node) -> str:
    last = len(node.gpus) - 1
    return f"NodeName={_names(node)} Name=gpu File=/dev/nvidia[0-{last}]\n"
