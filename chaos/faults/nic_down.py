"""A network interface whose cable, or the port at its other end, does not work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.nics import nics_of
from chaos.selection import Nodes
from chaos.undo import Undo
from fakes.world import World


@fault("nic", by="down")
@dataclass(frozen=True, slots=True)
class Down:
    """Let the link of an interface be down; of an InfiniBand one it is the port's, and polls.

    ``nic`` is its name (eth0, ib3), that of its adapter (mlx5_3), or all.
    """

    node: Nodes
    nic: str
    down: bool

    does_not_prove: ClassVar[str] = "that traffic would find another way, or a bond take over"

    def __post_init__(self) -> None:
        """Refuse what breaks nothing."""
        if not self.down:
            raise ValueError("down: it is false: leave the entry out.")

    def apply(self, world: World, undo: Undo) -> None:
        """Cut it."""
        for nic in nics_of(world, self.node, self.nic):
            with undo.keeping(
                (nic.interface, "link"),
                lambda nic=nic: nic.interface.carrier,  # type: ignore[misc]
                lambda up, nic=nic: nic.set_link(world, up=up),  # type: ignore[misc]
            ):
                nic.set_link(world, up=False)
