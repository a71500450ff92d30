"""On which nodes of a scenario a runbook may find itself: those have real processes."""

from __future__ import annotations

from collections.abc import Sequence

from chaos.scenario import Entry, Scenario
from chaos.selection import Gpus, Inventory, JobId, Nodes
from chaos.terms import Runbook


def nodes_with_processes(scenario: Scenario, runbook: Runbook) -> tuple[str, ...]:
    """The nodes that the runbook may run on: its own, else those that something happens to."""
    inventory = scenario.given.inventory
    if runbook.on is not None:
        return (runbook.on,)
    named = dict.fromkeys(
        name for entry in scenario.timeline for name in _nodes_of(entry, inventory)
    )
    return tuple(named) or inventory.nodes[:1]


def _nodes_of(entry: Entry, inventory: Inventory) -> Sequence[str]:
    found: list[str] = []
    what = entry.what
    for name in getattr(what, "__dataclass_fields__", ()):
        value = getattr(what, name)
        if isinstance(value, Gpus):
            found += (node for node, _ in value.resolve(inventory))
        elif isinstance(value, Nodes):
            found += value.resolve(inventory)
        elif isinstance(value, JobId):
            found += inventory.nodes[:1]
    return found
