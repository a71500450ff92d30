"""A service that does not run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.services import services_of
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("service", by="stop")
@dataclass(frozen=True, slots=True)
class ServiceStop:
    """Let a service of a node have been stopped, as by systemctl; starting it mends that.

    Healing starts it, unless somebody has.
    """

    node: Nodes
    stop: str

    does_not_prove: ClassVar[str] = "that what depends on it would have noticed"

    def apply(self, world: World, undo: Undo) -> None:
        """Stop it now."""
        for node, service in services_of(self.node, self.stop, world):
            undo.push(partial(node.services.begin, service, world))
            node.services.end(service, world)
