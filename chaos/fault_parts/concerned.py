"""Which nodes a fault names: those that it is sure to concern, as far as its arguments tell."""

from __future__ import annotations

from collections.abc import Iterable

from chaos.fault import Fault, type_of
from chaos.scenario import Entry, Heal
from chaos.selection import Gpus, Inventory, Nodes


def concerned(fault: Fault, inventory: Inventory) -> tuple[str, ...]:
    """The nodes that a fault's arguments name, each once; none where it names a job, say."""
    found: dict[str, None] = {}
    for argument in type_of(fault).arguments:
        value = getattr(fault, argument.attribute)
        if isinstance(value, Gpus):
            found.update((node, None) for node, _ in value.resolve(inventory))
        elif isinstance(value, Nodes):
            found.update((node, None) for node in value.resolve(inventory))
    return tuple(found)


def concerned_by(timeline: Iterable[Entry], inventory: Inventory) -> list[tuple[str, ...]]:
    """The same for each entry of a timeline; healing concerns whom its fault concerns."""
    by_id: dict[str, tuple[str, ...]] = {}
    found = []
    for entry in timeline:
        if isinstance(entry.what, Heal):
            nodes = by_id.get(entry.what.id, ())
        else:
            nodes = concerned(entry.what, inventory)
        if entry.id is not None:
            by_id[entry.id] = nodes
        found.append(nodes)
    return found
