"""What a process may use."""

from __future__ import annotations

import resource
from collections.abc import Iterator

from gputui.doctor.check import Result, check, critical, good, warning
from gputui.doctor.site import Site

LEAST_FILES = 4096
LEAST_PROCESSES = 4096
"""Each rank of a large job opens a socket to many others, and loaders start many threads."""


@check("limits")
def limits(site: Site) -> Iterator[Result]:
    """Limits on locked memory, files and processes leave room for a training job."""
    found = [*_locked(site), *_files(), *_processes()]
    yield from found
    if not found:
        yield good("locked memory, files and processes leave room")


def _locked(site: Site) -> Iterator[Result]:
    ports = [link for link in site.links() if link.kind in ("infiniband", "roce", "rdma")]
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if ports and soft != resource.RLIM_INFINITY:
        yield critical(
            f"locked memory: {soft >> 10} KiB, but RDMA ({ports[0].name}) locks its buffers",
            fix="ulimit -l unlimited; in a unit: LimitMEMLOCK=infinity",
        )


def _files() -> Iterator[Result]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < LEAST_FILES:
        most = "65536" if hard == resource.RLIM_INFINITY else str(min(hard, 65536))
        yield warning(f"open files: {soft}", fix=f"ulimit -n {most}")


def _processes() -> Iterator[Result]:
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if soft != resource.RLIM_INFINITY and soft < LEAST_PROCESSES:
        yield warning(f"processes and threads: {soft}", fix="ulimit -u unlimited")
