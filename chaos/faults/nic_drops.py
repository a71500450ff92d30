"""A network interface that drops what it receives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.nics import nics_of
from chaos.format.values import Count
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("nic", by="drops_per_s")
@dataclass(frozen=True, slots=True)
class Drops:
    """Let an interface drop so many packets a second that it has no room for.

    On InfiniBand they are those that its port discards. ``nic`` is its name (eth0, ib3), that of
    its adapter (mlx5_3), or all. Healing stops it; what was counted stays.
    """

    node: Nodes
    nic: str
    drops_per_s: Count

    does_not_prove: ClassVar[str] = "that anybody would be slower for it"

    def apply(self, world: World, undo: Undo) -> None:
        """Count from now on."""
        for nic in nics_of(world, self.node, self.nic):
            tallies = [nic.interface.counters["rx_dropped"]]
            if nic.adapter is not None:
                tallies.append(nic.adapter.counters["port_xmit_discards"])
            for tally in tallies:
                with undo.keeping(
                    (tally, "per_s"),
                    lambda tally=tally: tally.per_s,  # type: ignore[misc]
                    lambda rate, tally=tally: tally.grow(rate, world.now_us),  # type: ignore[misc]
                ):
                    tally.grow(self.drops_per_s.number, world.now_us)
