"""A driver whose library was replaced while its old module stayed loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.format.values import DriverVersion
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.driver.disturbance import Refusal, calm, disturb
from fakes.driver.faults import VERSION_MISMATCH, tell_mismatch
from fakes.node import Node
from fakes.world import World

_CLIENT, _CLIENT_PID = "dcgm-exporter", 3107


@fault("driver", by="mismatch")
@dataclass(frozen=True, slots=True)
class Mismatch:
    """Let a node's libraries be of a version that its kernel module is not.

    Programs that start cannot use the driver, and the module says why; those that had begun go on,
    with the library that they have.
    """

    node: Nodes
    mismatch: DriverVersion

    does_not_prove: ClassVar[str] = "that every program of a job would fail in the same way"

    def apply(self, world: World, undo: Undo) -> None:
        """Replace the libraries now; the next program that comes is told off."""
        for name in self.node.resolve(Inventory.of(world)):
            _replace(world.nodes[name], self.mismatch.text, world.now_us, undo)


def _replace(node: Node, library: str, at_us: int, undo: Undo) -> None:
    if library == node.driver.version:
        raise FaultError(f"{library} is the version of {node.name}'s kernel module")
    refusal = Refusal(VERSION_MISMATCH)
    undo.push(lambda: calm(node, refusal))
    disturb(node, refusal)
    tell_mismatch(node, library, _CLIENT, _CLIENT_PID, at_us)
