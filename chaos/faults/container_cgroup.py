"""A container that may no longer use its GPUs' device files."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from chaos.fault import fault
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.driver.disturbance import Refusal, calm, disturb
from fakes.driver.faults import UNKNOWN
from fakes.node import Node
from fakes.world import World


class Rules(Enum):
    """What became of the cgroup's rules for device files."""

    LOST = "lost"


@fault("container", by="cgroup")
@dataclass(frozen=True, slots=True)
class CgroupLost:
    """Let the containers of a node lose their device rules, as after a reload of systemd's units.

    Every program on the fake node is in a container for this purpose: NVML answers "Unknown Error",
    and the kernel log says nothing.
    """

    node: Nodes
    cgroup: Rules

    does_not_prove: ClassVar[str] = (
        "that a real program which has its device files open would lose them as well"
    )

    def apply(self, world: World, undo: Undo) -> None:
        """Take them away now."""
        for name in self.node.resolve(Inventory.of(world)):
            _take_away(world.nodes[name], undo)


def _take_away(node: Node, undo: Undo) -> None:
    refusal = Refusal(UNKNOWN, inside=True)
    undo.push(lambda: calm(node, refusal))
    disturb(node, refusal)
