"""A node elsewhere that no longer answers."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.rule import CRITICAL, Finding, Subject, after, rule, samples
from gputui.model import Action, NodeSample
from gputui.silence import Silence
from gputui.sources.reasons import NO_CONNECTION

_SILENT_S = 30.0
"""Longer than ssh takes to notice a dead network (ServerAliveInterval times its count is 15 s)."""

_UNREACHABLE = ("No route to host", "Network is unreachable", "Could not resolve hostname")
"""What ssh says when it is the way there that is missing (strerror(3), OpenSSH)."""


def _without_connection(now: NodeSample, past: History) -> Iterator[Finding]:
    """The connection was lost, and cannot be made again."""
    if past.samples and now.error is not None and now.error.startswith(NO_CONNECTION):
        cause = "link" if any(words in now.error for words in _UNREACHABLE) else "unknown"
        yield _finding(past, cause, now.error.rstrip("."))


def _in_silence(silence: Silence, last: NodeSample, past: History) -> Iterator[Finding]:
    """Nothing comes, though the connection stands."""
    if silence.elsewhere and silence.waited_s >= _SILENT_S and past.samples:
        yield _finding(past, "unknown", "it has fallen silent")


@rule(
    kind="NodeDown",
    severity=CRITICAL,
    holds=after(seconds=10),
    clears=samples(2),
    on_failure=_without_connection,
    on_silence=_in_silence,
)
def node_down(now: NodeSample, past: History) -> Iterator[Finding]:
    """A node that was watched from elsewhere is silent for 30 s, or refuses connections for 10 s.

    One that was never heard of is a mistake in its name rather. A sample that comes ends it.
    """
    yield from ()


def _finding(past: History, cause: str, text: str) -> Finding:
    last = past.samples[-1]
    return Finding(
        Subject.of_node(last.host),
        cause=cause,
        cause_text=text,
        action=Action.REBOOT_NODE,
        action_text="ping it; if it is down, see its console (ipmitool sol activate), power it on",
        evidence=(text,),
        since_s=last.time_s,
    )
