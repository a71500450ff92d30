"""A driver that is not loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.driver.faults import end_all_processes
from fakes.node import Node
from fakes.world import World

_DAEMONS = frozenset(
    {"nvidia-dcgm.service", "nvidia-fabricmanager.service", "nvidia-persistenced.service"}
)
"""Services that end with an error when the driver is gone."""


@fault("driver", by="unload")
@dataclass(frozen=True, slots=True)
class Unload:
    """Take a node's driver out (``unload: true``), after all that uses a GPU has ended.

    NVIDIA's daemons have failed without it. Healing loads it, as modprobe does, and starts those;
    processes of jobs stay ended.
    """

    node: Nodes
    unload: bool

    does_not_prove: ClassVar[str] = "that a real module could be taken out, or loaded again"

    def __post_init__(self) -> None:
        """Refuse what breaks nothing."""
        if not self.unload:
            raise ValueError("unload: only true means anything.")

    def apply(self, world: World, undo: Undo) -> None:
        """Take it out now."""
        for name in self.node.resolve(Inventory.of(world)):
            _unload(world.nodes[name], world, undo)


def _unload(node: Node, world: World, undo: Undo) -> None:
    end_all_processes(node, world.now_us)
    daemons = [each for each in node.services if each.name in _DAEMONS and each.is_active]

    def load() -> None:
        node.modules.bring_back(node, world.now_us)
        for daemon in daemons:
            node.services.begin(daemon, world)

    undo.push(load)
    node.modules.take_out(node, world.now_us)
    for daemon in daemons:
        node.services.fail(daemon, world)
