"""A PCIe port that cut off what is below it (DPC), where nobody knows what that was."""

from __future__ import annotations

from collections.abc import Iterator

from gputui.incidents.history import History
from gputui.incidents.pci_tree import concerned
from gputui.incidents.rule import CRITICAL, Finding, Subject, after, lines, log_rule
from gputui.logs.kernel import KernelEvent
from gputui.model import Action


@log_rule(kind="PcieErrors", severity=CRITICAL, clears=after(hours=24), hears=lines("dpc"))
def contained(event: KernelEvent, past: History) -> Iterator[Finding]:
    """Without the bus to look at, the port alone is known: the node is told."""
    if any(True for _ in concerned(past, event)):
        return
    yield Finding(
        Subject.of_node(past.samples[-1].host if past.samples else ""),
        key=event.bus_id or "",
        cause="link",
        cause_text=f"port {event.bus_id} cut off what is below it (DPC containment)",
        action=Action.CHECK_LINK,
        action_text=f"see what is below the port (lspci -t; lspci -s {event.bus_id} -vv), "
        "then drain and reseat it",
        evidence=(event.text,),
    )
