"""How the files that a node has of its own (``fakes/files/``) come to be seen by its programs.

They are kept in memory, below ``files`` in the node's own file system; what its programs may edit,
below ``edited`` (edited.py). So nothing is written to a disk, and nothing is left to be removed.

Those below /sys and /etc are layered over
the machine's directories, so that they are also there where the machine has none; trees and the
files of /proc are mounted over what is there, so that they can change while the node lives.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from chaos.sandbox.edited import ETC
from chaos.sandbox.plan import NODE, Bind, Fresh, Layer, Place
from chaos.sandbox.root import GPU_DEVICES
from fakes.files.registry import views

_MEMORY = "memory"
_FILES = "files"
_EDITED = "edited"
_LAYERED = ("/etc", "/sys")
_OTHER_DEVICES = (
    "nvidia-uvm-tools", "nvidia-modeset", "nvidia-caps/nvidia-cap1", "nvidia-caps/nvidia-cap2",
    "nvidia-caps-imex-channels/channel0",
)  # fmt: skip
_MOST_ADAPTERS = 8

_FRESH = {
    "/run/lock": 0o1777,
    "/run/nvidia-persistenced": 0o755,
    "/run/nvidia-fabricmanager": 0o755,
    "/run/nvidia": 0o755,
    "/run/systemd/system": 0o755,
}
"""What services make in /run when a machine boots."""

_OTHER_KERNEL_LOGS = ("syslog", "messages", "dmesg")
_LOG_FOLDERS = ("slurm", "healthchecks", "nvidia-dcgm")
_EMPTY_LOGS = ("fabricmanager.log", "nvidia-imex.log")


def memory(directory: Path) -> Path:
    """Where a node has its own file system, as the node's first process sees it."""
    return directory / _MEMORY


def own_files(memory: Path) -> Path:
    """Where a node's files are kept, by where we see its own file system."""
    return memory / _FILES


def edited_files(memory: Path) -> Path:
    """Where a node's own /etc is kept, by where we see its own file system."""
    return memory / _EDITED


def places(etc: Mapping[str, str]) -> list[Place]:
    """What is there before a node is, so that something can be mounted over it or laid over the
    machine's; ``etc`` are the texts of files in /etc.
    """
    own = [Place(f"{_FILES}{view.path}", None if view.is_tree else "") for view in views()]
    texts = [Place(f"{_FILES}{ETC}/{name}", text) for name, text in etc.items()]
    return [*own, *texts, Place(_EDITED)]


def device_names(gpus: int, switches: int = 0) -> tuple[str, ...]:
    """The names in /dev of so many GPUs and NVSwitches, and of what the driver makes with them."""
    if not gpus:
        return ()
    own = (f"nvidia{index}" for index in range(gpus))
    nvswitch = (f"nvidia-nvswitch{each}" for each in ("ctl", *range(switches))) if switches else ()
    return (
        *own,
        *GPU_DEVICES,
        *_OTHER_DEVICES,
        *nvswitch,
        *_rdma_devices(min(gpus, _MOST_ADAPTERS)),
    )


def _rdma_devices(adapters: int) -> tuple[str, ...]:
    """What the InfiniBand drivers make: a port of each sort for every adapter."""
    kinds = ("uverbs", "umad", "issm")
    ports = (f"infiniband/{kind}{number}" for kind in kinds for number in range(adapters))
    return ("infiniband/rdma_cm", *ports)


def fresh_folders(empty: list[str]) -> list[Fresh]:
    """Directories to be made in the places that are ``empty`` on a node."""
    return [
        Fresh(path, mode)
        for path, mode in _FRESH.items()
        if any(path.startswith(f"{place}/") for place in empty)
    ]


def make_logs(kernel_log: Path) -> None:
    """Make what there is in /var/log beside the kernel's log, which has several names there."""
    kernel_log.parent.mkdir(exist_ok=True)
    kernel_log.touch(0o644)
    for name in _OTHER_KERNEL_LOGS:
        (kernel_log.parent / name).hardlink_to(kernel_log)
    for name in _LOG_FOLDERS:
        (kernel_log.parent / name).mkdir()
    for name in _EMPTY_LOGS:
        (kernel_log.parent / name).touch(0o644)


def layered() -> list[Layer]:
    """What is laid over the machine's directories."""
    return [
        Layer(f"{NODE}/{_MEMORY}/{_FILES}{place}", place)
        for place in _LAYERED
        if Path(place).is_dir()
    ]


def mounted() -> list[Bind]:
    """What is mounted, outer directories first."""
    return [
        Bind(f"{NODE}/{_MEMORY}/{_FILES}{view.path}", os.path.realpath(view.path), view.writable)
        for view in views()
        if view.is_tree or not view.path.startswith(_LAYERED)
    ]
