"""Storage: a file system has no room left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.storage import trouble
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.system.storage import Trouble
from fakes.world import World


@fault("storage", by="full")
@dataclass(frozen=True, slots=True)
class StorageFull:
    """Let a file system be full: writing to it fails with ENOSPC.

    The argument is where it is mounted (/mnt/data). Jobs fail at their next checkpoint.
    """

    node: Nodes
    full: str

    does_not_prove: ClassVar[str] = "how it was filled"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it be so now."""
        trouble(self.node, self.full, Trouble.FULL, world, undo)
