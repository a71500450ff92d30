"""Storage: a file system's server forgot what was opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.storage import trouble
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.system.storage import Trouble
from fakes.world import World


@fault("storage", by="stale")
@dataclass(frozen=True, slots=True)
class StorageStale:
    """Let the server of a file system have started anew: whoever has a file open gets ESTALE.

    The argument is where it is mounted (/mnt/data). Jobs fail at their next checkpoint.
    """

    node: Nodes
    stale: str

    does_not_prove: ClassVar[str] = "that clients would not have found their files again"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it be so now."""
        trouble(self.node, self.stale, Trouble.STALE, world, undo)
