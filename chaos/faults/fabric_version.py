"""A fabric manager of another version than the driver: it says so, and does not run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.fault_parts.services import services_of
from chaos.faults.fabric_manager import MANAGER, let_wait
from chaos.faults.service_broken import break_service
from chaos.format.values import DriverVersion
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.hardware.fabric import manager_line
from fakes.world import World


@fault("fabric", by="version")
@dataclass(frozen=True, slots=True)
class ManagerVersion:
    """Let a node have a fabric manager of a version that is not its driver's.

    It ends when it starts, and its GPUs' registration stays in progress. What it says goes to the
    system's log.
    """

    node: Nodes
    version: DriverVersion

    does_not_prove: ClassVar[str] = "that a package manager would have let it come to that"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it start, and end, now."""
        for node, service in services_of(self.node, MANAGER, world):
            if self.version.text == node.driver.version:
                raise FaultError(f"{self.version} is the version of {node.name}'s driver")
            let_wait(node, undo)
            break_service(node, service, world, undo)
            node.kernel_log.write(
                world.now_us, manager_line(self.version.text, node.driver.version)
            )
