"""The file systems of a node: what is mounted where, how full it is, and what is wrong with it.

A usual GPU node: two NVMe drives for itself, homes by NFS, data by a parallel file system. What
jobs say of a file system in trouble are Python's words for errno(3).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fakes.node import Node

_GIB = 1 << 30
_TIB = 1 << 40


class Trouble(Enum):
    """What may be wrong with a file system, as jobs get to feel it."""

    STALE = "stale"
    FULL = "full"
    READ_ONLY = "read-only"
    SLOW = "slow"


_ERRORS = {
    Trouble.STALE: (116, "Stale file handle"),
    Trouble.FULL: (28, "No space left on device"),
    Trouble.READ_ONLY: (30, "Read-only file system"),
}


@dataclass(frozen=True, slots=True)
class Mount:
    """A file system and where it is. ``options`` are those of /proc/mounts."""

    source: str
    target: str
    kind: str
    total_bytes: int
    used_bytes: int
    options: str = "rw,relatime"
    trouble: Trouble | None = None

    @property
    def used(self) -> int:
        """The bytes in use."""
        return self.total_bytes if self.trouble is Trouble.FULL else self.used_bytes

    @property
    def free(self) -> int:
        """The bytes that are left."""
        return self.total_bytes - self.used

    @property
    def options_now(self) -> str:
        """The options in force: a file system with errors is read-only."""
        if self.trouble is Trouble.READ_ONLY:
            return self.options.replace("rw", "ro", 1)
        return self.options

    @property
    def is_remote(self) -> bool:
        """Whether it is another machine's."""
        return self.kind in ("nfs4", "lustre")


USUAL = (
    Mount("/dev/nvme0n1p2", "/", "ext4", 1_760 * _GIB, 212 * _GIB),
    Mount("/dev/nvme0n1p1", "/boot/efi", "vfat", _GIB // 2, _GIB // 80),
    Mount("/dev/nvme1n1", "/raid", "xfs", 3_576 * _GIB, 903 * _GIB, "rw,noatime,attr2"),
    Mount("tmpfs", "/dev/shm", "tmpfs", 1_008 * _GIB, _GIB // 4, "rw,nosuid,nodev"),
    Mount("tmpfs", "/run", "tmpfs", 202 * _GIB, _GIB // 200, "rw,nosuid,nodev,mode=755"),
    Mount("head:/export/home", "/home", "nfs4", 40 * _TIB, 17 * _TIB, "rw,relatime,vers=4.2,hard"),
    Mount("10.0.254.1@o2ib:/data", "/mnt/data", "lustre", 900 * _TIB, 511 * _TIB, "rw,flock"),
)


class Storage:
    """The mounts of a node, in the order of their mounting."""

    def __init__(self) -> None:
        self.mounts: tuple[Mount, ...] = USUAL

    def find(self, target: str) -> Mount | None:
        """What is mounted on a directory."""
        return next(
            (mount for mount in self.mounts if mount.target == target.rstrip("/")), None
        ) or (self.mounts[0] if target == "/" else None)

    def holding(self, path: str) -> Mount:
        """What a path lies on."""
        fits = [
            mount
            for mount in self.mounts
            if path == mount.target or path.startswith(f"{mount.target.rstrip('/')}/")
        ]
        return max(fits, key=lambda mount: len(mount.target), default=self.mounts[0])

    def set_trouble(self, target: str, trouble: Trouble | None) -> None:
        """Let something be wrong with what is mounted there, or no longer."""
        self.mounts = tuple(
            replace(mount, trouble=trouble) if mount.target == target else mount
            for mount in self.mounts
        )


def fail_jobs(node: Node, mount: Mount, at_us: int) -> None:
    """Let the jobs of a node fail on their next checkpoint, and say why."""
    if mount.trouble not in _ERRORS:
        return
    number, words = _ERRORS[mount.trouble]
    for pid in sorted(node.processes):
        process = node.processes.get(pid)
        if process is None or not process.spec.job or process.spec.rank:
            continue
        path = f"{mount.target.rstrip('/')}/{process.spec.job}/checkpoints/step_1000.pt"
        text = f"OSError: [Errno {number}] {words}: '{path}'"
        for line in ("Traceback (most recent call last):", text):
            node.job_log.write(at_us, process.spec.job, line, process)
        node.end_process(pid, at_us)
