"""An SXid: what the driver prints of an NVSwitch's error."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.links import switch_of
from chaos.format.values import Count, Duration
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.hardware.link_faults import write_sxid
from fakes.world import World

_LOWEST_CODE, _HIGHEST_CODE = 10_000, 99_999


@fault("nvswitch", by="sxid")
@dataclass(frozen=True, slots=True)
class Sxid:
    """Let an NVSwitch of a node report an SXid, once or in a burst. The links stay as they are.

    ``switch`` counts from 0; ``port`` is the number that the switch gives the link.
    """

    node: Nodes
    sxid: int
    switch: int = 0
    port: int = 0
    times: Count = Count(1)
    every: Duration = Duration(1_000_000)

    does_not_prove: ClassVar[str] = "that a real switch with this error would go on switching"

    def __post_init__(self) -> None:
        """Refuse what is no SXid."""
        if not _LOWEST_CODE <= self.sxid <= _HIGHEST_CODE:
            raise ValueError(f"sxid: an SXid has five digits, such as 20034, not {self.sxid}.")

    def apply(self, world: World, undo: Undo) -> None:
        """Report the first now, and schedule the others."""
        for node, switch in switch_of(self.node, self.switch, world):
            actor = f"sxid/{node.name}/{switch.index}/{self.sxid}"
            write = partial(self._write, world, node.name)
            for number in range(self.times.number):
                undo.schedule(world, world.now_us + number * self.every.us, actor, write)

    def _write(self, world: World, name: str) -> None:
        for node, switch in switch_of(Nodes(name), self.switch, world):
            write_sxid(node, switch, self.sxid, self.port, world.now_us)
