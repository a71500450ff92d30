"""A collective that does not end: some rank is missing, slow, or not reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gputui.incidents.history import MOST_OF_A_SORT, History
from gputui.incidents.job_words import QUIET, decides, job_finding, told
from gputui.incidents.rule import WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent
from gputui.logs.text_facts import TextFact
from gputui.model import Action

_REPORTS = ("torch_watchdog", "torch_watchdog2")
_MOST_NAMED = 4

_LOOK = "py-spy dump --pid PID there; dmesg -T | grep -e Xid -e oom on its node"


@job_rule(kind="NcclTimeout", severity=WARNING, clears=QUIET)
def nccl_timeout(event: JobEvent, past: History) -> Iterator[Finding]:
    """Those that report are those that wait.

    The rank that does not report, or that is at an earlier collective than the others, is the one
    to look at. When all wait in the same one, it is what lies between them. That a peer went away
    says only that it went first.
    """
    fact = told(event, "NcclTimeout")
    if fact is None or not decides(event, fact, past):
        return
    if event.pattern in _REPORTS:
        yield _of_reports(event, fact, past)
    elif event.pattern.startswith("horovod"):
        yield _of_horovod(event, fact, past)
    else:
        yield job_finding(event, fact, past)


def _of_reports(event: JobEvent, fact: TextFact, past: History) -> Finding:
    at = _positions(event, past)
    there = _ranks_expected(at, event, past)
    absent = [rank for rank in range(there) if rank not in at]
    if len(at) >= MOST_OF_A_SORT:
        absent = []  # so many reported that the first ones are not remembered
    lowest = min(at.values(), default=0)
    behind = sorted(rank for rank, number in at.items() if number == lowest)
    what = f"{event.field('op')} {lowest}" if event.field("op") else f"collective {lowest}"
    if at and max(at.values()) > lowest:
        return job_finding(
            event,
            fact,
            past,
            cause="slow-rank",
            cause_text=f"{_named(behind)} came only to collective {lowest}, others to "
            f"{max(at.values())}",
            action_text=f"{_named(behind)}: {_LOOK}",
        )
    if absent or len(at) < 2:
        who = _named(absent) if absent and len(at) > 1 else "some rank"
        waiting = f"{len(at)} ranks wait" if len(at) > 1 else f"{_named(sorted(at))} waits"
        return job_finding(
            event,
            fact,
            past,
            cause="missing-rank",
            cause_text=f"{who} did not report; {waiting} in {what}",
            action_text=f"{who if len(at) > 1 else 'the rank that did not report'}: {_LOOK}",
        )
    return job_finding(
        event,
        fact,
        past,
        cause="network",
        cause_text=f"{_all(len(at))} ranks wait in {what}",
        action=Action.CHECK_NETWORK,
        action_text="ibstat and nvidia-smi nvlink -s on every node; all_reduce_perf between pairs",
    )


def _of_horovod(event: JobEvent, fact: TextFact, past: History) -> Finding:
    listed = next(
        (
            ranks
            for other in reversed(past.job_said(event.job, "horovod_missing"))
            if (ranks := other.field("ranks"))
        ),
        None,
    )
    if listed is None:
        return job_finding(event, fact, past)
    who = f"ranks {listed}" if "," in listed else f"rank {listed}"
    return job_finding(
        event,
        fact,
        past,
        cause_text=f"{who} did not come to a collective",
        action_text=f"{who}: {_LOOK}",
    )


def _positions(event: JobEvent, past: History) -> Mapping[int, int]:
    """The collective in which each rank that reported waits, by its number."""
    at: dict[int, int] = {}
    for pattern in _REPORTS:
        for other in past.job_said(event.job, pattern):
            number = other.field("seq") or other.field("work")
            if other.rank is not None and number is not None:
                at[other.rank] = min(int(number), at.get(other.rank, int(number)))
    return at


def _ranks_expected(at: Mapping[int, int], event: JobEvent, past: History) -> int:
    """How many ranks there are, at the least: jobs of more than one have an even number."""
    highest = max(at, default=0) + 1
    processes = len(past.gpus_of_job(event.job)) if event.job else 0
    return max(highest + (highest > 1 and highest % 2), processes)


def _all(count: int) -> str:
    return f"all {count}" if count < MOST_OF_A_SORT else f"{count} or more"


def _named(ranks: list[int]) -> str:
    if not ranks:
        return "some rank"
    shown = ", ".join(map(str, ranks[:_MOST_NAMED]))
    more = f" and {len(ranks) - _MOST_NAMED} more" if len(ranks) > _MOST_NAMED else ""
    return f"rank{'s' if len(ranks) > 1 else ''} {shown}{more}"
