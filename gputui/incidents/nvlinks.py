"""Which NVLinks of a node are down, and what they have in common.

A link has two ends. Where both are GPUs of this node, it is told once, of the GPU with the lower
index. Links of several GPUs that lead to one switch are that switch's matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gputui.model import GpuSample, NodeSample
from gputui.sources.reasons import LOST_CODES


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """One end of a link that is down. ``peer`` is what is at the other end: a GPU's index, or a PCI
    address; None where nobody knows.
    """

    gpu: GpuSample
    number: int
    peer: int | str | None

    @property
    def text(self) -> str:
        """``link 4 to GPU 1``, ``link 4 to switch 0000:05:00``, ``link 4``."""
        if self.peer is None:
            return f"link {self.number}"
        whom = f"GPU {self.peer}" if isinstance(self.peer, int) else f"switch {self.peer}"
        return f"link {self.number} to {whom}"


def peer_of(gpu: GpuSample, link: int, now: NodeSample) -> int | str | None:
    """What is at the other end of a link."""
    peers = gpu.nvlink_peers or ()
    address = peers[link] if link < len(peers) else ""
    if not address:
        return None
    return next((one.index for one in now.gpus if one.bus_id == address), address)


def broken_links(now: NodeSample) -> list[BrokenLink]:
    """Every end that is down and should not be.

    A link that leads nowhere is always down (cards without bridges, models with links to spare): it
    counts only where its other end is known, or where another GPU of the model has it up.
    """
    return [
        BrokenLink(gpu, link, peer)
        for gpu in now.gpus
        for link in gpu.nvlinks_down or ()
        if (peer := peer_of(gpu, link, now)) is not None or _others_have_it(gpu, link, now)
    ]


def _others_have_it(gpu: GpuSample, link: int, now: NodeSample) -> bool:
    return any(
        other.name == gpu.name
        and other.index != gpu.index
        and other.nvlinks_down is not None
        and link < (other.nvlinks or 0)
        and link not in other.nvlinks_down
        for other in now.gpus
    )


def whole_switches(links: Sequence[BrokenLink], now: NodeSample) -> list[str]:
    """The switches to which several GPUs have links, of which none is up."""
    there: Counter[str] = Counter()
    owners: dict[str, set[int]] = {}
    for gpu in now.gpus:
        for link in range(len(gpu.nvlink_peers or ())):
            peer = peer_of(gpu, link, now)
            if isinstance(peer, str):
                there[peer] += 1
                owners.setdefault(peer, set()).add(gpu.index)
    down = Counter(one.peer for one in links if isinstance(one.peer, str))
    return [peer for peer in there if down[peer] == there[peer] and len(owners[peer]) > 1]


def all_down(links: Iterable[BrokenLink], now: NodeSample) -> bool:
    """Whether every link of every GPU is down, of two GPUs or more."""
    down = Counter(one.gpu.index for one in links)
    linked = [gpu for gpu in now.gpus if gpu.nvlinks]
    return len(linked) > 1 and all(down[gpu.index] == gpu.nvlinks for gpu in linked)


def without_lost_peers(broken: Sequence[BrokenLink], now: NodeSample) -> list[BrokenLink]:
    """The broken links whose other end still answers: the others went with the GPU there."""
    lost = {gpu.index for gpu in now.gpus if gpu.return_code in LOST_CODES}
    return [one for one in broken if one.peer not in lost]


def told_once(links: Sequence[BrokenLink]) -> dict[int, list[BrokenLink]]:
    """Broken links by the GPU that they are told of: of two ends only the lower one's."""
    between = {(one.gpu.index, one.peer) for one in links}
    told: dict[int, list[BrokenLink]] = {}
    for one in links:
        lower = isinstance(one.peer, int) and one.peer < one.gpu.index
        if lower and (one.peer, one.gpu.index) in between:
            continue
        told.setdefault(one.gpu.index, []).append(one)
    return told
