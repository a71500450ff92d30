"""What of the machine a node's programs do not get to see.

Two things lead out of a file system that is read-only: sockets, since connecting to one is no
write, and secrets, since reading them is none either. So the places where services keep their
sockets, and people their homes, are empty on a node; and so is every socket that somebody listens
on now, wherever it lies (proc(5), /proc/net/unix).
"""

from __future__ import annotations

import os
import pwd
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from chaos.sandbox.plan import Fresh

_SOCKETS = Path("/proc/net/unix")
_PATH_FIELD = 7
_SHARED = 0o1777

_FRESH = {
    "/tmp": _SHARED,
    "/var/tmp": _SHARED,
    "/run": 0o755,
    "/var/run": 0o755,
    "/home": 0o755,
    "/root": 0o700,
}
_SERVICES = (
    "cni", "containerd", "containers", "dbus", "docker", "etcd", "gssproxy", "incus", "k0s",
    "kubelet", "libvirt", "lxc", "lxd", "machines", "munge", "mysql", "postgresql", "rancher",
    "slurm", "slurmctld", "slurmd", "snapd", "sss",
)  # fmt: skip
"""Services that keep sockets or credentials under /var/lib."""

_HIDDEN = (
    "/var/spool",
    *(f"/var/lib/{service}" for service in _SERVICES),
    "/proc/driver/nvidia",
    "/sys/module/nvidia",
    "/sys/module/nvidia_uvm",
    "/sys/bus/pci/drivers/nvidia",
    "/sys/class/infiniband",
    "/sys/class/infiniband_mad",
    "/sys/class/infiniband_verbs",
    "/sys/class/hwmon",
)

_NO_HOMES = ("/", "/dev", "/dev/shm", "/etc", "/opt", "/proc", "/sys", "/usr", "/var")
"""Whoever has one of these as a home has no home to be hidden."""


def fresh_places(environ: Mapping[str, str]) -> list[Fresh]:
    """The directories of this machine that are empty, and the node's own, on a node."""
    own = [environ.get("HOME", ""), environ.get("XDG_RUNTIME_DIR", ""), _home_of_record()]
    wanted = [*_FRESH.items(), (tempfile.gettempdir(), _SHARED), *((path, 0o700) for path in own)]
    places: dict[str, int] = {}
    for path, mode in wanted:
        if path and stat.S_ISDIR(mode_of(path)):
            places.setdefault(os.path.realpath(path), mode)
    return [Fresh(path, mode) for path, mode in sorted(places.items()) if path not in _NO_HOMES]


def hidden_paths(fresh: Iterable[Fresh]) -> list[str]:
    """What shows nothing on a node: of drivers, of services, and sockets outside of ``fresh``."""
    covered = tuple(f"{place.path}/" for place in fresh)
    found = [os.path.realpath(path) for path in _HIDDEN]
    found += sockets_in_use()
    return [path for path in dict.fromkeys(found) if not path.startswith((*covered, "/dev/"))]


def sockets_in_use() -> Iterator[str]:
    """The sockets of this machine that have a path, as far as this process can see them."""
    seen = set()
    for line in _SOCKETS.read_bytes().splitlines()[1:]:
        fields = line.split(None, _PATH_FIELD)
        path = os.fsdecode(fields[_PATH_FIELD]) if len(fields) > _PATH_FIELD else ""
        if path.startswith("/") and path not in seen and stat.S_ISSOCK(mode_of(path, follow=False)):
            seen.add(path)
            yield os.path.realpath(path)


def mode_of(path: str | Path, *, follow: bool = True) -> int:
    """The mode of what is at (the end of) a path; 0 if there is nothing that we may see."""
    try:
        return Path(path).stat(follow_symlinks=follow).st_mode
    except OSError:
        return 0


def _home_of_record() -> str:
    """The caller's home as the system knows it, whatever HOME says; "" for a user it knows not."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:
        return ""
