"""An NVML that lets nobody in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from chaos.fault import fault
from chaos.faults.hang import keep_disturbed
from chaos.selection import Inventory, Nodes
from chaos.undo import Undo
from fakes.driver.disturbance import NoWayIn, Refusal
from fakes.world import World


class Way(Enum):
    """How nvmlInit ends, if it does."""

    NO_PERMISSION = "no-permission"
    DRIVER_NOT_LOADED = "driver-not-loaded"
    OPERATING_SYSTEM = "operating-system"
    VERSION_MISMATCH = "version-mismatch"
    UNKNOWN = "unknown"
    BLOCKS = "blocks"


_CODES = {
    Way.NO_PERMISSION: 4,
    Way.DRIVER_NOT_LOADED: 9,
    Way.OPERATING_SYSTEM: 17,
    Way.VERSION_MISMATCH: 18,
    Way.UNKNOWN: 999,
}
"""nvmlReturn_t."""


@fault("nvml", by="init")
@dataclass(frozen=True, slots=True)
class Init:
    """Let nvmlInit fail, or not return, for programs that begin; those that had begun go on."""

    node: Nodes
    init: Way

    does_not_prove: ClassVar[str] = "that the kernel log, or /dev, would look as they do here"

    def apply(self, world: World, undo: Undo) -> None:
        """Close the way in now."""
        for name in self.node.resolve(Inventory.of(world)):
            code = _CODES.get(self.init)
            keep_disturbed(world.nodes[name], Refusal(code) if code else NoWayIn(), undo)
