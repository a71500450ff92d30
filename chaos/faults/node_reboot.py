"""A node that starts anew by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.hardware.recovery import come_back, fall
from fakes.world import World


@fault("node", by="reboot")
@dataclass(frozen=True, slots=True)
class NodeReboot:
    """Let a node crash and boot (``reboot: true``): nobody asked for it.

    It is up again after four minutes, and healing changes nothing.
    """

    node: Nodes
    reboot: bool

    does_not_prove: ClassVar[str] = "that a real one would have crashed"

    def __post_init__(self) -> None:
        """Refuse what breaks nothing."""
        if not self.reboot:
            raise ValueError("reboot: only true means anything.")

    def apply(self, world: World, undo: Undo) -> None:
        """Let it crash now."""
        del undo  # it comes up by itself
        for name in self.node.resolve(Inventory.of(world)):
            fall(world, world.nodes[name])
            come_back(world, world.nodes[name])
