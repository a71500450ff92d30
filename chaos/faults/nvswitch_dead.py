"""An NVSwitch that is dead: every link that led to it is down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.links import switch_of
from chaos.faults.nvlink_down import take_down
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.hardware.links import far_end
from fakes.world import World


@fault("nvswitch", by="dead")
@dataclass(frozen=True, slots=True)
class Dead:
    """Let an NVSwitch of a node (counted from 0) be dead, and with it a share of each GPU's links.

    The driver prints an Xid 74 for each link and an SXid for each port; ``silent`` spares the
    kernel log its lines.
    """

    node: Nodes
    dead: int
    silent: bool = False

    does_not_prove: ClassVar[str] = (
        "that the fabric manager would route around it, or shut the whole fabric down"
    )

    def apply(self, world: World, undo: Undo) -> None:
        """Take its links down now."""
        for node, switch in switch_of(self.node, self.dead, world):
            for gpu in node.gpus:
                for link in range(len(gpu.nvlinks)):
                    if far_end(node, gpu, link).switch == switch:
                        take_down(gpu, link, world, undo, silent=self.silent)
