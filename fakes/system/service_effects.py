"""What becomes of a node when one of its services stops, or starts again.

====================  ============================================================================
fabric manager        the GPUs register with the fabric anew; CUDA does not begin before they have
persistence daemon    the driver lets go of GPUs that nobody uses, and holds them again
slurmd                the controller misses it after SlurmdTimeout (300 s), and has the node down
====================  ============================================================================

From NVIDIA's Fabric Manager user guide (registration, cudaErrorSystemNotReady), the persistence
daemon's manual, and slurm.conf(5).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.clock import SECOND_US
from fakes.hardware.fabric import FabricState

if TYPE_CHECKING:
    from fakes.node import Node
    from fakes.world import World

REGISTERS_IN_US = 5 * SECOND_US
SLURMD_TIMEOUT_US = 300 * SECOND_US

_MISSED = "Not responding"


@dataclass(frozen=True, slots=True)
class Consequence:
    """What happens when a service has stopped, and when it has started."""

    stopped: Callable[[Node, World], None]
    started: Callable[[Node, World], None]


def _fabric_lost(node: Node, world: World) -> None:
    del world
    for gpu in node.gpus:
        if gpu.profile.can.fabric:
            gpu.fabric.state = FabricState.IN_PROGRESS


def _fabric_joined(node: Node, world: World) -> None:
    def register() -> None:
        if node.services.is_active("nvidia-fabricmanager"):
            for gpu in node.gpus:
                if gpu.profile.can.fabric:
                    gpu.fabric.state = FabricState.COMPLETED

    world.schedule(world.now_us + REGISTERS_IN_US, f"{node.name}/fabric manager", register)


def _let_go(node: Node, world: World) -> None:
    del world
    for gpu in node.gpus:
        gpu.persistence = False


def _hold(node: Node, world: World) -> None:
    del world
    for gpu in node.gpus:
        gpu.persistence = True


def _not_responding(node: Node, world: World) -> None:
    miss(node, world, lambda: not node.services.is_active("slurmd"))


def miss(node: Node, world: World, is_silent: Callable[[], bool]) -> None:
    """The controller has a node down if it is still silent when its time is over."""

    def look() -> None:
        if node.is_up and is_silent():
            world.cluster.node_went_down(node.name)

    world.schedule(world.now_us + SLURMD_TIMEOUT_US, f"{node.name}/slurmd", look)


def take_back(node: Node, world: World) -> None:
    """The controller takes a node back that it had only missed; not one that went down meanwhile.

    That is ReturnToService=1, as most sites have it.
    """
    record = world.cluster.nodes[node.name]
    if node.booted_us != world.now_us and record.down and record.down.reason == _MISSED:
        record.down = None


EFFECTS = {
    "nvidia-fabricmanager.service": Consequence(_fabric_lost, _fabric_joined),
    "nvidia-persistenced.service": Consequence(_let_go, _hold),
    "slurmd.service": Consequence(_not_responding, take_back),
}
