"""A network that loses packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.network_trouble import trouble_packets
from chaos.format.values import Percent
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("network", by="loss")
@dataclass(frozen=True, slots=True)
class Loss:
    """Let such a share of the packets to or from the nodes be lost."""

    node: Nodes
    loss: Percent

    does_not_prove: ClassVar[str] = "that a lossless fabric would lose any"

    def apply(self, world: World, undo: Undo) -> None:
        """Lose them from now on."""
        trouble_packets(self.node, "loss", self.loss.share, world, undo)
