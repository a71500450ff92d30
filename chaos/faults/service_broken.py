"""A service that cannot be started."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.services import services_of
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.node import Node
from fakes.system.services import Service
from fakes.world import World


@fault("service", by="broken")
@dataclass(frozen=True, slots=True)
class ServiceBroken:
    """Let a service have failed, and fail whenever it is started, until this is healed."""

    node: Nodes
    broken: str

    does_not_prove: ClassVar[str] = "that its log would have said as little"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it fail now, and from now on."""
        for node, service in services_of(self.node, self.broken, world):
            break_service(node, service, world, undo)


def break_service(node: Node, service: Service, world: World, undo: Undo) -> None:
    """Let a service fail, and every start of it, until it is undone."""
    undo.push(partial(node.services.begin, service, world))
    with undo.keeping_attribute(service, "broken"):
        service.broken = True
    node.services.fail(service, world)
