"""A GPU that has not joined its NVLink fabric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.links import check_fabric
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.fabric import FabricState
from fakes.world import World


@fault("fabric", by="state")
@dataclass(frozen=True, slots=True)
class State:
    """Let a GPU be in a state of registering with the fabric, other than completed."""

    gpu: Gpus
    state: FabricState

    does_not_prove: ClassVar[str] = "that CUDA would refuse to start on that GPU, and how"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it be in that state now."""
        for gpu in self.gpu.find(world):
            check_fabric(gpu)
            with undo.keeping_attribute(gpu.fabric, "state"):
                gpu.fabric.state = self.state
