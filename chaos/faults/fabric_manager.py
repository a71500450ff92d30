"""A fabric manager that does not run: the GPUs wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.links import check_fabric
from chaos.fault_parts.services import services_of
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.hardware.fabric import FabricState
from fakes.node import Node
from fakes.world import World

MANAGER = "nvidia-fabricmanager"


class Manager(Enum):
    """What may be with it."""

    STOPPED = "stopped"


@fault("fabric", by="manager")
@dataclass(frozen=True, slots=True)
class ManagerStopped:
    """Let a node have come up without its fabric manager: its GPUs' registration is in progress.

    Healing is that it was started, and all GPUs have registered.
    """

    node: Nodes
    manager: Manager

    does_not_prove: ClassVar[str] = "that jobs which ran already when a manager stopped would go on"

    def apply(self, world: World, undo: Undo) -> None:
        """Let its service be stopped, and every GPU wait."""
        for node, service in services_of(self.node, MANAGER, world):
            let_wait(node, undo)
            undo.push(partial(node.services.begin, service, world))
            node.services.end(service, world)


def let_wait(node: Node, undo: Undo) -> None:
    """Let every GPU of a node wait for the fabric manager until the fault is healed."""
    for gpu in node.gpus:
        check_fabric(gpu)
        with undo.keeping_attribute(gpu.fabric, "state"):
            gpu.fabric.state = FabricState.IN_PROGRESS
