"""NVML calls that do not return."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from chaos.fault import fault
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.driver.disturbance import Disturbance, calm, disturb
from fakes.driver.disturbance import Hang as HangingCalls
from fakes.node import Node
from fakes.world import World


class Scope(Enum):
    """Whose calls are meant."""

    GPU = "gpu"
    DRIVER = "driver"


@fault("hang")
@dataclass(frozen=True, slots=True)
class Hang:
    """Let calls to a GPU not return, or (``scope: driver``) any call to the driver of its node.

    Healing lets all that wait return. Programs can be killed while they wait.
    """

    gpu: Gpus
    scope: Scope = Scope.GPU

    does_not_prove: ClassVar[str] = (
        "that a real program which waits in the driver can be killed: often it cannot"
    )

    def apply(self, world: World, undo: Undo) -> None:
        """Let them hang from now on."""
        for gpu in self.gpu.find(world):
            hang = HangingCalls(gpu.index if self.scope is Scope.GPU else None)
            keep_disturbed(world.node_of(gpu), hang, undo)


def keep_disturbed(node: Node, disturbance: Disturbance, undo: Undo) -> None:
    """Let a disturbance be in force until the fault is healed."""
    undo.push(lambda: calm(node, disturbance))
    disturb(node, disturbance)
