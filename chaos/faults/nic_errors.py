"""A network link that corrupts what it carries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.nics import nics_of
from chaos.format.values import Count
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.world import World

_COUNTERS = ("symbol_error", "port_rcv_errors")
_ETHERNET_COUNTERS = ("rx_crc_errors", "rx_errors")


@fault("nic", by="errors_per_s")
@dataclass(frozen=True, slots=True)
class Errors:
    """Let errors be counted on an interface's link, so many a second.

    On InfiniBand they are symbol errors, each a packet that is lost; on Ethernet wrong checksums.
    ``nic`` is its name (eth0, ib3), that of its adapter (mlx5_3), or all. Healing stops the
    counting; what was counted stays.
    """

    node: Nodes
    nic: str
    errors_per_s: Count

    does_not_prove: ClassVar[str] = "that packets would be lost, where the link corrects them"

    def apply(self, world: World, undo: Undo) -> None:
        """Count from now on."""
        for nic in nics_of(world, self.node, self.nic):
            counters = nic.interface.counters if nic.adapter is None else nic.adapter.counters
            for name in _ETHERNET_COUNTERS if nic.adapter is None else _COUNTERS:
                tally = counters[name]
                with undo.keeping(
                    (tally, "per_s"),
                    lambda tally=tally: tally.per_s,  # type: ignore[misc]
                    lambda rate, tally=tally: tally.grow(rate, world.now_us),  # type: ignore[misc]
                ):
                    tally.grow(self.errors_per_s.number, world.now_us)
