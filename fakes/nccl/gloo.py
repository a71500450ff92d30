"""The ranks connect their CPUs: Gloo, which PyTorch makes beside NCCL unless told otherwise.

Each rank listens where its node's own name leads (or on GLOO_SOCKET_IFNAME's interface), and tells
the others that address. Where /etc/hosts gives the name an address of the loopback, or none, the
others are told 127.0.1.1, which is each of them itself.
"""

from __future__ import annotations

from fakes.clock import SECOND_US
from fakes.jobs.process import Process
from fakes.nccl.job import (
    Member,
    Said,
    StartingJob,
    Step,
    leaving_by,
    outcome_of_reaching,
)
from fakes.nccl.texts import raised, torch_warning
from fakes.network.hosts import is_loopback, resolve

VARIABLE = "GLOO_SOCKET_IFNAME"

_FALLS_BACK = (
    "Warning: Unable to resolve hostname to a (local) address. Using the loopback address as "
    "fallback. Manually set the network interface to bind to with GLOO_SOCKET_IFNAME. "
    "(function operator())"
)
_FIRST_PORT = 32_768


def gloo_mesh(job: StartingJob) -> Step:
    """Let every rank connect to every other."""
    step = Step(takes_us=SECOND_US)
    if not job.is_distributed:
        return step
    told: dict[str, str] = {}
    for member in job.members:
        address = _listens_on(member, step)
        if address is not None:
            told[member.node.name] = address
    if step.failed:
        return step
    for member in job.members:
        found = _first_unreachable(job, member, told)
        if found is None:
            continue
        peer, address, why = found
        for process in member.processes:
            port = _port_of(peer.processes[0], process)
            error = (
                "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/"
                f"transport/tcp/pair.cc:144] connect [{address}]:{port}: {why}"
            )
            step.failed.append((member, process))
            step.said += [Said(member, process, line, SECOND_US) for line in raised(process, error)]
    return step


def _listens_on(member: Member, step: Step) -> str | None:
    """The address that a node's ranks tell the others; None where they fail at once."""
    named = member.settings.get(VARIABLE)
    if named:
        first = named.partition(",")[0]
        interface = member.node.network.interface(first)
        if interface is not None and interface.ip:
            return interface.ip
        for process in member.processes:
            step.failed.append((member, process))
            error = f"RuntimeError: Unable to find address for: {first}"
            step.said += [Said(member, process, line) for line in raised(process, error)]
        return None
    own = (*member.node.network.addresses,)
    for address in resolve(member.hosts, member.node.name):
        if address in own or is_loopback(address):
            return address
    for process in member.processes:
        text = torch_warning(process, "ProcessGroupGloo.cpp:715", _FALLS_BACK)
        step.said.append(Said(member, process, text))
    return "127.0.0.1"


def _first_unreachable(
    job: StartingJob, member: Member, told: dict[str, str]
) -> tuple[Member, str, str] | None:
    """The first other node that cannot be reached at the address it told, and why."""
    for peer in job.members:
        if peer is member:
            continue
        address = told[peer.node.name]
        way = leaving_by(member.node, address)
        why = outcome_of_reaching(member.node, way, peer.node, address)
        if why is not None:
            return peer, address, why
    return None


def _port_of(peer: Process, process: Process) -> int:
    """A port of those that the kernel gives out, one for each pair."""
    return _FIRST_PORT + (peer.pid * 613 + process.spec.rank * 7) % 28_000
