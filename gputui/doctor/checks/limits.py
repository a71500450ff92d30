"""What a process may use."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from gputui.doctor.check import Result, check, critical, good, unchecked, warning
from gputui.doctor.process_limits import LOCKED_MEMORY, OPEN_FILES, PROCESSES, process_limits
from gputui.doctor.site import Site

LEAST_FILES = 4096
LEAST_PROCESSES = 4096
"""Each rank of a large job opens a socket to many others, and loaders start many threads."""

_USUAL_FILES = 65_536

_Limits = Mapping[str, tuple[float, float]]


@check("limits")
def limits(site: Site) -> Iterator[Result]:
    """Limits on locked memory, files and processes leave room for a training job."""
    told = process_limits(site)
    if told is None:
        yield unchecked("the limits of a process cannot be read", fix="ulimit -a")
        return
    found = [*_locked(site, told), *_files(told), *_processes(told)]
    yield from found
    if not found:
        yield good("locked memory, files and processes leave room")


def _locked(site: Site, told: _Limits) -> Iterator[Result]:
    ports = [link for link in site.links() if link.kind in ("infiniband", "roce", "rdma")]
    soft, _ = told.get(LOCKED_MEMORY, (math.inf, math.inf))
    if ports and soft != math.inf:
        yield critical(
            f"locked memory: {int(soft) >> 10} KiB, but RDMA ({ports[0].name}) locks its buffers",
            fix="ulimit -l unlimited; in a unit: LimitMEMLOCK=infinity",
        )


def _files(told: _Limits) -> Iterator[Result]:
    soft, hard = told.get(OPEN_FILES, (math.inf, math.inf))
    if soft < LEAST_FILES:
        yield warning(f"open files: {soft:.0f}", fix=f"ulimit -n {min(hard, _USUAL_FILES):.0f}")


def _processes(told: _Limits) -> Iterator[Result]:
    soft, _ = told.get(PROCESSES, (math.inf, math.inf))
    if soft < LEAST_PROCESSES:
        yield warning(f"processes and threads: {soft:.0f}", fix="ulimit -u unlimited")
