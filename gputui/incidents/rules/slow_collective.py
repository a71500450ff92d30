"""A job whose collectives are slower than need be: it does not use the InfiniBand there is."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.job_words import QUIET, job_finding, told
from gputui.incidents.rule import INFO, WARNING, Finding, job_rule
from gputui.logs.job_event import JobEvent

_RDMA = ("infiniband", "roce", "rdma")


@job_rule(kind="SlowCollective", severity=INFO, clears=QUIET)
def slow_collective(event: JobEvent, past: History) -> Iterator[Finding]:
    """NCCL falls back to sockets without a complaint. Where the node has RDMA ports that are up,
    that is a fault; where it has none, or nobody knows, it is worth knowing.
    """
    fact = told(event, "SlowCollective")
    if fact is None:
        return
    links = past.samples[-1].links if past.samples else ()
    has_rdma = any(link.kind in _RDMA and link.is_up for link in links)
    yield job_finding(event, fact, past, severity=WARNING if has_rdma else INFO)
