"""NVLink: which link of a GPU leads where, whether it is up, and its errors.

A GPU's links lead to the node's switches in turn (HGX baseboards), or, where a model has links and
no switches, to one other GPU (bridged pairs of cards). A link has two ends: what breaks one breaks
it for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fakes.hardware.gpu import Gpu
    from fakes.node import Node

_FIRST_SWITCH_BUS = 0x05


@dataclass(slots=True, eq=False)
class Nvlink:
    """A GPU's end of one link. Errors are counted since the driver was loaded.

    ``crc`` are packets that came with a wrong checksum, ``replays`` packets that had to be sent
    again, ``recoveries`` how often the link was trained anew.
    """

    up: bool = True
    crc: int = 0
    replays: int = 0
    recoveries: int = 0


@dataclass(frozen=True, slots=True)
class Switch:
    """An NVSwitch of a node."""

    index: int

    @property
    def pci_bus(self) -> int:
        """Where it is on the PCI bus of domain 0."""
        return _FIRST_SWITCH_BUS + self.index

    @property
    def bus_id(self) -> str:
        """Its PCI address, without the function."""
        return f"0000:{self.pci_bus:02x}:00"


@dataclass(frozen=True, slots=True)
class FarEnd:
    """Where a link leads: a port of a switch, or a link of another GPU (by index). Or nowhere."""

    switch: Switch | None = None
    gpu: Gpu | None = None
    number: int = 0


def switches_of(node: Node) -> tuple[Switch, ...]:
    """The switches of a node."""
    return tuple(Switch(index) for index in range(node.gpus[0].profile.nvlink.switches))


def far_end(node: Node, gpu: Gpu, link: int) -> FarEnd:
    """Where a link of a GPU leads.

    Ports are numbered so that each link has its own: real boards have orders of their own.
    """
    nvlink = gpu.profile.nvlink
    if nvlink.switches:
        of_a_gpu = -(-nvlink.links // nvlink.switches)
        port = gpu.index * of_a_gpu + link // nvlink.switches
        return FarEnd(Switch(link % nvlink.switches), number=port)
    partner = gpu.index ^ 1
    if partner < len(node.gpus):
        return FarEnd(gpu=node.gpus[partner], number=link)
    return FarEnd()
