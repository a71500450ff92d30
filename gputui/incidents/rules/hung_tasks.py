"""Processes that wait in the kernel and cannot be interrupted, for minutes."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.host_words import OF_BROKEN_GPUS, may_be_a_jobs, node_of, silent_servers
from gputui.incidents.rule import INFO, WARNING, Cause, Finding, after, lines, log_rule
from gputui.logs.kernel import KernelEvent
from gputui.model import Action


@log_rule(kind="StorageStall", severity=WARNING, clears=after(minutes=10), hears=lines("hung_task"))
def hung_tasks(event: KernelEvent, past: History) -> Iterator[Finding]:
    """The kernel tells of whoever waited for two minutes: mostly for files, else for a GPU that no
    longer answers; where either is known, it hangs under that.
    """
    servers = silent_servers(past)
    yield Finding(
        node_of(event, past),
        key="hung-tasks",
        cause="storage" if servers else "unknown",
        cause_text=f"{event.process} (pid {event.pid}) has waited for more than {event.detail} s "
        "and cannot be interrupted",
        action=Action.CHECK_STORAGE,
        action_text="see what it waits for (cat /proc/PID/stack, mount, dmesg): mostly files of a "
        "server that is gone, else a driver",
        evidence=(event.text,),
        severity=WARNING if may_be_a_jobs(event, past) else INFO,
        under=(*(Cause("StorageStall", key=server) for server in servers), *OF_BROKEN_GPUS),
    )
