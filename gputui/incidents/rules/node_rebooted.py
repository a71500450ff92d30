"""A node that was started anew since it was last watched."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.clock import clock
from gputui.incidents.history import History
from gputui.incidents.rule import WARNING, Finding, LookAgain, Noticed, Subject, rule, samples
from gputui.model import Action, NodeSample

_NEWS_FOR_S = 600.0


@rule(kind="NodeRebooted", severity=WARNING, holds=samples(1), clears=samples(1))
def node_rebooted(now: NodeSample, past: History) -> Iterator[Noticed]:
    """The kernel's name for the boot is another than when it was last watched, or its uptime fell.

    It is told for ten minutes: whoever rebooted it knows, and whoever did not has to look why. What
    is most often behind a reboot that nobody asked for is power; what the log said before the end
    is in the journal of the boot before.
    """
    boots = past.boots
    if boots.rebooted_s is None or now.time_s - boots.rebooted_s > _NEWS_FOR_S:
        return
    yield LookAgain(boots.rebooted_s + _NEWS_FOR_S + 1.0)
    since_s = boots.rebooted_s if boots.booted_s is None else boots.booted_s
    yield Finding(
        Subject.of_node(now.host),
        cause="supply",
        cause_text=f"started anew at {clock(since_s, now.time_s)}",
        action=Action.CHECK_POWER,
        action_text="if nobody rebooted it: journalctl -b -1 -e, ipmitool sel list",
        evidence=("another boot than when this node was last watched",),
        since_s=min(since_s, now.time_s),
    )
