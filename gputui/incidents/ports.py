"""How the links of a node have been: which were ever up, how fast, how often they failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gputui.model import LinkSample, NodeSample

RDMA = frozenset({"infiniband", "roce", "rdma"})
"""Kinds of links that training's collectives use."""

_MOST_LINKS = 256


class Ports:
    """What is remembered of links for as long as this program runs; bounded."""

    def __init__(self) -> None:
        self._best_mbps: dict[str, int] = {}

    def add(self, sample: NodeSample) -> None:
        """Take in a sample."""
        for link in sample.links:
            if not link.is_up:
                continue
            known = self._best_mbps.get(link.name)
            if known is None and len(self._best_mbps) >= _MOST_LINKS:
                continue
            self._best_mbps[link.name] = max(known or 0, link.speed_mbps or 0)

    def was_up(self, name: str) -> bool:
        """Whether a link was ever seen up: one that never was is perhaps not even connected."""
        return name in self._best_mbps

    def best_mbps(self, name: str) -> int:
        """The highest speed that a link was seen with; 0 if none was told."""
        return self._best_mbps.get(name, 0)


def named(sample: NodeSample, name: str) -> LinkSample | None:
    """The link of this name in a sample."""
    return next((link for link in sample.links if link.name == name), None)


def grown(samples: Sequence[NodeSample], name: str, counters: Iterable[str]) -> tuple[int, float]:
    """By how much counters of a link grew over some samples, together, and in how many seconds.

    A counter that fell has begun anew. Nothing, in no time, where the link is in fewer than two.
    """
    first, last = _counted(samples, name), _counted(reversed(samples), name)
    if first is None or last is None:
        return 0, 0.0
    growth = 0
    for counter in counters:
        before, now = first[1].counters.get(counter, 0), last[1].counters.get(counter, 0)
        growth += now - before if now >= before else now
    return growth, last[0] - first[0]


def _counted(samples: Iterable[NodeSample], name: str) -> tuple[float, LinkSample] | None:
    """The first sample in which a link's counters were read."""
    for sample in samples:
        link = named(sample, name)
        if link is not None and link.growth_s is not None:
            return sample.time_s, link
    return None
