"""An NVLink with errors: wrong checksums, packets sent again, links trained anew."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import ClassVar

from chaos.fault import fault
from chaos.fault_parts.links import check_links
from chaos.fault_parts.recurring import count_up
from chaos.format.values import Count, Numbers
from chaos.selection import Gpus
from chaos.undo import Undo
from fakes.hardware.links import Nvlink, far_end
from fakes.world import World


class LinkError(Enum):
    """What is counted (nvmlNvLinkErrorCounter_t)."""

    CRC = "crc"
    REPLAY = "replay"
    RECOVERY = "recovery"


_COUNTERS = {
    LinkError.CRC: "crc",
    LinkError.REPLAY: "replays",
    LinkError.RECOVERY: "recoveries",
}


@fault("nvlink", by="errors")
@dataclass(frozen=True, slots=True)
class Errors:
    """Let errors of a kind come so often on a GPU's NVLinks (4, 0..3 or all).

    Both ends count them, where both are GPUs. Healing ends that; what was counted stays counted.
    """

    gpu: Gpus
    errors: LinkError
    per_minute: Count
    link: Numbers = Numbers("0")

    does_not_prove: ClassVar[str] = "that the link would stay up, or as fast, with as many errors"

    def apply(self, world: World, undo: Undo) -> None:
        """Count them from now on."""
        for gpu in self.gpu.find(world):
            node = world.node_of(gpu)
            for number in check_links(gpu, self.link):
                ends = [gpu.nvlinks[number]]
                peer = far_end(node, gpu, number)
                if peer.gpu is not None:
                    ends.append(peer.gpu.nvlinks[peer.number])
                actor = f"nvlink/{gpu.node}/{gpu.index}/{number}"
                count = partial(_count, ends, _COUNTERS[self.errors])
                count_up(world, undo, actor, self.per_minute.number, count)


def _count(ends: list[Nvlink], counter: str, by: int) -> None:
    for end in ends:
        setattr(end, counter, getattr(end, counter) + by)
