"""A Fabric Manager that is not of the driver's version."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.offline import subject_of
from gputui.incidents.rule import CRITICAL, Finding, after, lines, log_rule
from gputui.incidents.rules.fabric_not_ready import VERSIONS, install_advice
from gputui.logs.kernel import KernelEvent
from gputui.model import Action


@log_rule(
    kind="FabricNotReady", severity=CRITICAL, clears=after(hours=24), hears=lines("fabric_manager")
)
def fabric_manager(event: KernelEvent, past: History) -> Iterator[Finding]:
    """It says so, and stops: no GPU joins the fabric, and CUDA's error 802 follows."""
    versions = VERSIONS.search(event.text)
    if versions is None or versions["manager"] == versions["driver"]:
        return
    yield Finding(
        subject_of(event, past),
        cause="version-mismatch",
        cause_text=f"fabric manager {versions['manager']}, driver {versions['driver']}",
        action=Action.CHECK_CONFIG,
        action_text=install_advice(versions["driver"]),
        evidence=(event.text,),
    )
