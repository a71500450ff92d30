"""A service that has failed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.services import services_of
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("service", by="fail")
@dataclass(frozen=True, slots=True)
class ServiceFail:
    """Let the main process of a service end with an error; starting it mends that.

    Where its unit says so, systemd starts it again after five seconds. Healing starts it.
    """

    node: Nodes
    fail: str

    does_not_prove: ClassVar[str] = "that a real one would have ended"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it fail now."""
        for node, service in services_of(self.node, self.fail, world):
            undo.push(partial(node.services.begin, service, world))
            node.services.fail(service, world)
