"""A job that crashed inside NCCL."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.advice import ACTION_TEXTS
from gputui.incidents.history import History
from gputui.incidents.rule import WARNING, Finding, Subject, after, lines, log_rule
from gputui.logs.kernel import KernelEvent
from gputui.model import Action


@log_rule(
    kind="JobFailed", severity=WARNING, clears=after(minutes=10), hears=lines("nccl_segfault")
)
def segfault(event: KernelEvent, past: History) -> Iterator[Finding]:
    """The kernel tells of it; the process's name is all that is known of the job."""
    yield Finding(
        Subject.of_job(event.process or str(event.pid)),
        cause="application",
        cause_text=f"{event.process} (pid {event.pid}) crashed inside {event.detail}",
        action=Action.RESTART_APP,
        action_text=ACTION_TEXTS[Action.RESTART_APP],
        evidence=(event.text,),
    )
