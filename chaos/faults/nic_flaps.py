"""A network link that goes down and comes back, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.nics import Nic, nics_of
from chaos.fault_parts.recurring import Recurring
from chaos.format.values import Count, Duration
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("nic", by="flaps")
@dataclass(frozen=True, slots=True)
class Flaps:
    """Let the link of an interface go down so often, ``every`` so long, for ``lasting`` each time.

    ``nic`` is its name (eth0, ib3), that of its adapter (mlx5_3), or all.
    """

    node: Nodes
    nic: str
    flaps: Count
    every: Duration = Duration(15_000_000)
    lasting: Duration = Duration(2_000_000)

    does_not_prove: ClassVar[str] = "whether the cable or either of its ends is to blame"

    def __post_init__(self) -> None:
        """Refuse a link that is never up in between."""
        if self.lasting.us >= self.every.us:
            raise ValueError("lasting: it is not shorter than 'every': say 'down' instead.")

    def apply(self, world: World, undo: Undo) -> None:
        """Begin with the first one now."""
        for nic in nics_of(world, self.node, self.nic):
            _Flapping(world, nic, self, undo)


class _Flapping:
    """One link at it."""

    def __init__(self, world: World, nic: Nic, fault: Flaps, undo: Undo) -> None:
        self._world = world
        self._nic = nic
        self._left = fault.flaps.number
        self._lasting_us = fault.lasting.us
        self._actor = f"nic/{nic.node.name}/{nic.interface.name}"
        undo.push(self._end)
        self._recurring = Recurring(world, self._actor, fault.every.us, self._go_down)
        self._go_down()

    def _go_down(self) -> None:
        if not self._left:
            return
        self._left -= 1
        self._nic.set_link(self._world, up=False)
        self._world.schedule(self._world.now_us + self._lasting_us, self._actor, self._come_up)
        if not self._left:
            self._recurring.end()

    def _come_up(self) -> None:
        self._nic.set_link(self._world, up=True)

    def _end(self) -> None:
        self._left = 0
        self._recurring.end()
        self._come_up()
