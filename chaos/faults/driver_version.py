"""Another version of the driver, properly installed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.format.values import DriverVersion
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.driver.faults import load_version
from fakes.world import World


@fault("driver", by="version")
@dataclass(frozen=True, slots=True)
class Version:
    """Let a node run another version of the driver: module and library alike.

    Nothing is wrong with that by itself; what was built for another version may not run.
    """

    node: Nodes
    version: DriverVersion

    does_not_prove: ClassVar[str] = "that this version knows the GPUs, or has the same NVML"

    def apply(self, world: World, undo: Undo) -> None:
        """Load it now."""
        for name in self.node.resolve(Inventory.of(world)):
            node = world.nodes[name]
            with undo.keeping_attribute(node, "driver"):
                load_version(node, self.version.text, world.now_us)
