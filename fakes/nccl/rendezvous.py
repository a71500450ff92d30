"""The ranks find rank 0: every one asks the store of PyTorch's that rank 0 keeps.

MASTER_ADDR is the name of the job's first node, as ``scontrol show hostnames`` tells it to its
script; every node looks it up in its own /etc/hosts.
"""

from __future__ import annotations

from collections.abc import Iterator

from fakes.clock import SECOND_US
from fakes.jobs.process import Process
from fakes.nccl.job import Member, Said, StartingJob, Step, leaving_by, outcome_of_reaching
from fakes.nccl.texts import raised, torch_warning
from fakes.network.hosts import resolve

_PATIENCE_MS = 60_000
"""How long a rank tries (the agents' and torchrun's default)."""

_LOOKS_AFTER_US = SECOND_US
_ERROR_NUMBERS = {
    "Connection refused": 111,
    "No route to host": 113,
    "Network is unreachable": 101,
    "Connection timed out": 110,
}


def rendezvous(job: StartingJob) -> Step:
    """Let every rank connect to the store."""
    step = Step(takes_us=2 * SECOND_US)
    for member in job.members:
        why = _hindrance(job, member)
        if why is None:
            continue
        step.takes_us = _PATIENCE_MS * 1000
        for process in member.processes:
            step.failed.append((member, process))
            step.said += _said(job, member, process, why)
    return step


def _hindrance(job: StartingJob, member: Member) -> str | None:
    """What keeps a node's ranks from the store, as they warn of it; None: nothing does."""
    name, port = job.head.node.name, job.store_port
    addresses = resolve(member.hosts, name)
    if not addresses:
        return (
            f"[c10d] The IPv4 network addresses of ({name}, {port}) cannot be retrieved "
            "(gai error: -2 - Name or service not known)."
        )
    address = addresses[0]
    way = leaving_by(member.node, address)
    why = outcome_of_reaching(member.node, way, job.head.node, address)
    if why is None:
        return None
    return (
        f"[c10d] The client socket has failed to connect to [{address}]:{port} "
        f"(errno: {_ERROR_NUMBERS[why]} - {why})."
    )


def _said(job: StartingJob, member: Member, process: Process, why: str) -> Iterator[Said]:
    for after_us in (_LOOKS_AFTER_US, 8 * SECOND_US, 24 * SECOND_US):
        yield Said(member, process, torch_warning(process, "socket.cpp:697", why), after_us)
    error = (
        f"torch.distributed.DistNetworkError: The client socket has timed out after {_PATIENCE_MS}"
        f"ms while trying to connect to ({job.head.node.name}, {job.store_port})."
    )
    for line in raised(process, error):
        yield Said(member, process, line, _PATIENCE_MS * 1000)
