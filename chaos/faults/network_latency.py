"""A network on which everything takes longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.network_trouble import trouble_packets
from chaos.format.values import Duration
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("network", by="latency")
@dataclass(frozen=True, slots=True)
class Latency:
    """Let every packet to or from the nodes take so much longer, each way."""

    node: Nodes
    latency: Duration

    does_not_prove: ClassVar[str] = "how much slower a job's collectives would be"

    def apply(self, world: World, undo: Undo) -> None:
        """Delay them from now on."""
        trouble_packets(self.node, "latency_us", self.latency.us, world, undo)
