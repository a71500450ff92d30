"""/dev/shm, through which processes of one job hand data to each other."""

from __future__ import annotations

import os
from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, unchecked, warning
from gputui.doctor.site import Site

_MIB = 1 << 20
_GIB = 1 << 30

_CONTAINERS_DEFAULT = 64 * _MIB
"""What Docker and Kubernetes give unless asked: torch's data loaders and NCCL fail with it."""

_FULL_SHARE = 0.9


@check("shared-memory")
def shared_memory(site: Site) -> Iterator[Result]:
    """/dev/shm is there, large enough for NCCL and for data loaders, and not full."""
    try:
        told = os.statvfs(site.root / "dev/shm")
    except OSError as error:
        yield unchecked(f"/dev/shm: {error.strerror}", fix="mount -t tmpfs tmpfs /dev/shm")
        return
    total, free = told.f_frsize * told.f_blocks, told.f_frsize * told.f_bavail
    shown = _amount(total)
    wanted = max(len(site.gpus), 1) * _GIB
    if total <= _CONTAINERS_DEFAULT:
        yield critical(
            f"{shown}, which is a container's default: data loaders and NCCL will fail",
            fix="docker run --shm-size=16g; in Kubernetes an emptyDir with medium: Memory",
        )
    elif total < wanted:
        yield warning(
            f"{shown}, less than 1 GiB for each GPU",
            fix=f"mount -o remount,size={2 * wanted // _GIB}G /dev/shm",
        )
    elif free < (1 - _FULL_SHARE) * total:
        yield warning(
            f"{_amount(total - free)} of {shown} are used",
            fix="ls -lt /dev/shm; remove what ended jobs have left",
        )
    else:
        yield good(f"{shown}, {_amount(free)} free")


def _amount(size_bytes: int) -> str:
    if size_bytes < _GIB:
        return f"{size_bytes / _MIB:.0f} MiB"
    return f"{size_bytes / _GIB:.0f} GiB"
