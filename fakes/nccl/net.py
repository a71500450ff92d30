"""NCCL's network: InfiniBand where every node has a port that works, else sockets; then the rings.

NCCL takes the adapters whose port is active; one that is down it leaves out without a word. Without
any it says so in its news, and sends over sockets. Two nodes of which one has InfiniBand and the
other has not do not reach each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fakes.clock import SECOND_US
from fakes.jobs.process import Process
from fakes.nccl.bootstrap import fail_words
from fakes.nccl.interfaces import VARIABLE, chosen
from fakes.nccl.job import Member, Said, StartingJob, Step, is_cut
from fakes.nccl.texts import info
from fakes.network.infiniband import Adapter

_QUEUE_PAIR_US = 5 * SECOND_US


def usable_adapters(member: Member) -> tuple[Adapter, ...]:
    """The adapters that NCCL uses on a node: NCCL_IB_DISABLE, NCCL_IB_HCA, and their state."""
    settings = member.settings
    if settings.get("NCCL_IB_DISABLE", "0") not in ("", "0"):
        return ()
    adapters = tuple(one for one in member.node.network.adapters if one.is_active)
    wanted = settings.get("NCCL_IB_HCA", "")
    return tuple(one for one in adapters if _is_wanted(one.name, wanted))


def _is_wanted(name: str, text: str) -> bool:
    """By NCCL_IB_HCA: prefixes, with ``=`` equal names, with ``^`` all but those."""
    excludes = text.startswith("^")
    rest = text[1:] if excludes else text
    is_exact = rest.startswith("=")
    names = [one.partition(":")[0] for one in rest.removeprefix("=").split(",")]
    names = [one for one in names if one]
    if not names:
        return True
    listed = any(name == one if is_exact else name.startswith(one) for one in names)
    return listed != excludes


def connect_rings(job: StartingJob) -> Step:
    """Let every rank take its network devices and connect to its neighbours."""
    step = Step(takes_us=3 * SECOND_US)
    adapters = {member.node.name: usable_adapters(member) for member in job.members}
    for member in job.members:
        if member.verbose:
            step.said += _news(member, adapters[member.node.name])
    if not job.is_distributed:
        return step
    for at, member in enumerate(job.members):
        own = adapters[member.node.name]
        after = job.members[(at + 1) % len(job.members)]
        if not own:
            continue
        if not adapters[after.node.name] or is_cut(member.node, after.node):
            for process in member.processes:
                _fail(step, member, process, own)
    return step


def _fail(step: Step, member: Member, process: Process, own: Sequence[Adapter]) -> None:
    adapter = own[process.spec.local_rank % len(own)]
    text = (
        "Call to ibv_modify_qp failed with 110 Connection timed out, on dev "
        f"{adapter.name}:1, curr state INIT, next state RTR"
    )
    step.failed.append((member, process))
    step.takes_us = _QUEUE_PAIR_US
    step.said += fail_words(
        member, process, "misc/ibvwrap.cc:262", text, "system error", _QUEUE_PAIR_US
    )


def _news(member: Member, adapters: Sequence[Adapter]) -> Iterator[Said]:
    found = chosen(member.node.network.interfaces, member.settings.get(VARIABLE))
    for process in member.processes:
        if adapters:
            listed = " ".join(f"[{at}]{one.name}:1/IB" for at, one in enumerate(adapters))
            text = f"NET/IB : Using {listed} [RO]; OOB {found[0].name}:{found[0].ip}<0>"
        else:
            yield Said(member, process, info(member, process, "NET/IB : No device found."))
            listed = " ".join(f"[{at}]{one.name}:{one.ip}<0>" for at, one in enumerate(found))
            text = f"NET/Socket : Using {listed}"
        yield Said(member, process, info(member, process, text))
