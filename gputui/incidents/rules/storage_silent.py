"""A file server that does not answer this node: NFS, or a target of Lustre."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.host_words import BACK, SILENT, node_of, silent_servers
from gputui.incidents.rule import WARNING, Finding, Over, after, lines, log_rule
from gputui.logs.kernel import KernelEvent
from gputui.model import Action


@log_rule(kind="StorageStall", severity=WARNING, clears=after(hours=24), hears=lines(SILENT, BACK))
def storage_silent(event: KernelEvent, past: History) -> Iterator[Finding | Over]:
    """Who uses its files waits until it answers, which the kernel says as well: then it is over."""
    node = node_of(event, past)
    if event.kind == BACK and not silent_servers(past):
        yield Over(node)
    if event.kind == SILENT:
        yield Finding(
            node,
            key=event.detail,
            cause="storage",
            cause_text=f"{event.detail} does not answer: what uses its files waits",
            action=Action.CHECK_STORAGE,
            action_text=f"look at {event.detail} and at the network to it (ping, nfsstat -c, "
            "lfs check servers); processes go on once it answers",
            evidence=(event.text,),
        )
