"""An NVLink that is down: at both of its ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.links import check_links
from chaos.format.values import Numbers
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.gpu import Gpu
from fakes.hardware.link_faults import tell_broken_link
from fakes.hardware.links import far_end
from fakes.world import World


@fault("nvlink", by="down")
@dataclass(frozen=True, slots=True)
class Down:
    """Take NVLinks of a GPU down, by their numbers: 4, 0..3, or all.

    The other end, where that is a GPU, shows it as well. The driver prints an Xid 74 for each, and
    the switch an SXid; ``silent`` spares the kernel log its lines.
    """

    gpu: Gpus
    down: Numbers
    silent: bool = False

    does_not_prove: ClassVar[str] = "that a job on that GPU would hang, or end, as a real one does"

    def apply(self, world: World, undo: Undo) -> None:
        """Take them down now."""
        for gpu in self.gpu.find(world):
            for link in check_links(gpu, self.down):
                take_down(gpu, link, world, undo, silent=self.silent)


def take_down(gpu: Gpu, link: int, world: World, undo: Undo, *, silent: bool) -> None:
    """Take both ends of a link down until the fault is healed."""
    node = world.node_of(gpu)
    ends = [gpu.nvlinks[link]]
    peer = far_end(node, gpu, link)
    if peer.gpu is not None:
        ends.append(peer.gpu.nvlinks[peer.number])
    for end in ends:
        with undo.keeping_attribute(end, "up"):
            end.up = False
    if not silent:
        tell_broken_link(node, gpu, link, world.now_us)
