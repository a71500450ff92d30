"""A GPU that is in its NVLink fabric, but not well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.links import check_fabric
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.fabric import FabricTrouble
from fakes.world import World


@fault("fabric", by="health")
@dataclass(frozen=True, slots=True)
class Health:
    """Let NVML say of a GPU what is wrong with its place in the fabric."""

    gpu: Gpus
    health: FabricTrouble

    does_not_prove: ClassVar[str] = "that traffic over the fabric would be slower, or fail"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it be so now."""
        for gpu in self.gpu.find(world):
            check_fabric(gpu)
            with undo.keeping_attribute(gpu.fabric, "trouble"):
                gpu.fabric.trouble = self.health
