"""Commands that a node must not answer as the machine would: what they tell is not the node's.

Each says so, and ends with 125, so that the run's verdict is unknown and names it. Tools that only
work on what they are given (grep, awk, sed, cat ...) are the machine's own and stay so. Whoever
writes a look-alike for one of these need not take it off the list.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TextIO

from fakes.commands.registry import NOT_UNDERSTOOD, Command

_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

EVERYWHERE = (
    # containers
    "docker", "podman", "nerdctl", "crictl", "ctr", "enroot", "nvidia-container-cli", "nvidia-ctk",
    # InfiniBand and NICs
    "ibv_devices", "ibping", "perfquery", "ibnetdiscover", "iblinkinfo", "ibdiagnet", "ibhosts",
    "ibportstate", "sminfo", "saquery", "mst", "mlxreg", "mlxconfig", "mlxfwmanager", "flint",
    "ofed_info", "fi_info", "rdma", "wpa_cli", "lldpcli", "show_gids", "dkms",
    # the node and its health
    "nhc", "nvidia-imex-ctl", "nvidia-cuda-mps-control", "nvidia-settings", "racadm", "ipmi-sel",
    "ipmi-sensors", "ec2-metadata", "mcelog", "ras-mc-ctl", "lctl", "lfs", "mmgetstate",
    "hostnamectl", "chronyc", "umount", "swapoff", "kubectl",
    # an Ubuntu's own
    "apt", "apt-get", "apt-cache", "dpkg", "dpkg-query", "snap", "ifconfig", "netstat", "ss",
    "route", "arp", "bridge", "tc", "iptables", "nft", "nmcli", "networkctl", "resolvectl",
    "loginctl", "busctl", "systemd-run", "systemd-analyze", "lsblk", "blkid", "blockdev", "hdparm",
    "mdadm", "mkfs", "fdisk", "parted", "kexec", "crontab", "at", "iostat", "vmstat", "mpstat",
    "sar", "lsscsi", "lsusb", "hwinfo", "inxi", "xfs_repair",
)  # fmt: skip
"""What public health checks, prologs and reset scripts call, and what tells of the machine.

They are there whether the machine has them or not, for a script that finds none must not go on as
if it had looked.
"""

WHERE_FOUND = ("rpm", "yum", "dnf", "zypper")
"""What an Ubuntu does not have, so that a node has none; a machine that does must not answer."""


def _not_known(program: str, err: TextIO) -> int:
    err.write(f"{program}: this command is not known here\n")
    return NOT_UNDERSTOOD


def stand_ins() -> Iterator[tuple[str, Command]]:
    """Each of them, by name."""
    found = (name for name in WHERE_FOUND if shutil.which(name, path=_SYSTEM_PATH))
    for name in (*EVERYWHERE, *found):
        yield name, Command((name,), _not_known, ("program", "err"), 10_000)
