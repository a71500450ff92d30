"""Persistence mode."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.doctor.check import Result, check, good, gpu_list, unread, untold, warning
from gputui.doctor.site import Site


@check("persistence")
def persistence(site: Site) -> Iterator[Result]:
    """The driver keeps GPUs initialised between jobs: without it each first call takes seconds."""
    told = [gpu for gpu in site.gpus if gpu.persistence_enabled is not None]
    if not told:
        readings = ("persistence_enabled",)
        yield from untold(site, readings, "persistence mode", "no GPU here tells of it")
        return
    off = [gpu.index for gpu in told if not gpu.persistence_enabled]
    silent = [*unread(site.gpus, "persistence_enabled", "persistence mode")]
    yield from silent
    if off:
        yield warning(f"off on {gpu_list(off)}", fix="systemctl enable --now nvidia-persistenced")
    elif not silent:
        yield good(f"on, on {len(told)} GPUs")
