"""A network link that is slower than it should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import FaultError, fault
from chaos.fault_parts.nics import nics_of
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("nic", by="rate_gbps")
@dataclass(frozen=True, slots=True)
class Rate:
    """Let the link of an interface run at a lower rate: an InfiniBand port of 400 at 200 or 100.

    ``nic`` is its name (eth0, ib3), that of its adapter (mlx5_3), or all.
    """

    node: Nodes
    nic: str
    rate_gbps: int

    does_not_prove: ClassVar[str] = "that a job would be as much slower"

    def apply(self, world: World, undo: Undo) -> None:
        """Let it negotiate fewer lanes."""
        for nic in nics_of(world, self.node, self.nic):
            adapter, interface = nic.adapter, nic.interface
            if adapter is not None and self.rate_gbps not in adapter.generation.slower:
                rates = ", ".join(map(str, sorted(adapter.generation.slower)))
                raise FaultError(f"{adapter.name} can fall back to {rates} Gb/s only")
            if not 0 < self.rate_gbps * 1000 < interface.speed_mbps:
                fastest = interface.speed_mbps // 1000
                raise FaultError(f"{interface.name} runs at {fastest} Gb/s: give less")
            with undo.keeping_attribute(interface, "speed_mbps"):
                interface.speed_mbps = self.rate_gbps * 1000
            if adapter is not None:
                with undo.keeping_attribute(adapter, "rate_gbps"):
                    adapter.rate_gbps = self.rate_gbps
