"""NCCL's bootstrap: every rank chooses an interface, and connects to rank 0 over it."""

from __future__ import annotations

from collections.abc import Iterator

from fakes.clock import SECOND_US
from fakes.jobs.process import Process
from fakes.nccl.interfaces import VARIABLE, chosen, is_set
from fakes.nccl.job import Member, Said, StartingJob, Step, outcome_of_reaching
from fakes.nccl.texts import info, nccl_failed, warning
from fakes.network.interface import Interface

_NO_INTERFACE = "Bootstrap : no socket interface found"
_RETRIES_US = 20 * SECOND_US
"""How long it tries a connection that is refused or times out (RETRY_REFUSED_TIMES of 1 ms)."""


def bootstrap(job: StartingJob) -> Step:
    """Let every rank choose its interface and connect."""
    step = Step(takes_us=2 * SECOND_US)
    taken: dict[str, Interface] = {}
    for member in job.members:
        value = member.settings.get(VARIABLE)
        found = chosen(member.node.network.interfaces, value)
        if member.verbose:
            step.said += _news(member, value, found[:1])
        if found:
            taken[member.node.name] = found[0]
        else:
            _fail(step, member, "bootstrap.cc:45", _NO_INTERFACE, "internal error", SECOND_US)
    if step.failed:
        return step
    root = taken[job.head.node.name]
    for member in job.members[1:]:
        own = taken[member.node.name]
        why = outcome_of_reaching(member.node, own, job.head.node, root.ip)
        if why is None:
            continue
        address = f"{root.ip}<{_port(job)}>"
        text = f"socketStartConnect: Connect to {address} failed : {why}"
        _fail(step, member, "misc/socket.cc:483", text, "system error", _patience_us(why))
    step.takes_us = max([step.takes_us, *(said.after_us for said in step.said)])
    return step


def _news(member: Member, value: str | None, found: tuple[Interface, ...]) -> Iterator[Said]:
    for process in member.processes:
        if is_set(value):
            text = f"{VARIABLE} set by environment to {value}"
            yield Said(member, process, info(member, process, text))
        for interface in found:
            text = f"Bootstrap : Using {interface.name}:{interface.ip}<0>"
            yield Said(member, process, info(member, process, text))


def _fail(step: Step, member: Member, place: str, text: str, result: str, after_us: int) -> None:
    for process in member.processes:
        step.failed.append((member, process))
        step.said += fail_words(member, process, place, text, result, after_us)


def fail_words(
    member: Member, process: Process, place: str, text: str, result: str, after_us: int
) -> Iterator[Said]:
    """What a rank says of a failure of NCCL's: NCCL's warning, and PyTorch's error."""
    if member.warns:
        yield Said(member, process, warning(member, process, place, text), after_us)
    for line in nccl_failed(process, result, text):
        yield Said(member, process, line, after_us)


def _patience_us(why: str) -> int:
    return _RETRIES_US if why in ("Connection refused", "Connection timed out") else SECOND_US


def _port(job: StartingJob) -> int:
    """The port that rank 0's kernel gave its listening socket."""
    return 32_768 + job.head.processes[0].pid * 13 % 28_000
