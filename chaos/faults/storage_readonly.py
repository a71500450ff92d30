"""Storage: a file system was made read-only after an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.storage import trouble
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.system.storage import Trouble
from fakes.world import World


@fault("storage", by="readonly")
@dataclass(frozen=True, slots=True)
class StorageReadOnly:
    """Let a file system be read-only, as the kernel makes one whose drive fails.

    The argument is where it is mounted (/mnt/data). Jobs fail at their next checkpoint.
    """

    node: Nodes
    readonly: str

    does_not_prove: ClassVar[str] = "that the drive is broken"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it be so now."""
        trouble(self.node, self.readonly, Trouble.READ_ONLY, world, undo)
