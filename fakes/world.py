"""The world: nodes, and what is still to happen to them.

It reads no clock. Its driver tells it how far to :meth:`World.advance`, and may ask
:meth:`World.next_us` for the next moment at which anything happens by itself: a scheduled action,
memory running full, a GPU switching itself off for heat.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fakes.events import Action, EventQueue, Ticket
from fakes.gpu import Gpu, Lookup
from fakes.memory import full_us
from fakes.node import Node
from fakes.thermal import NEVER_US
from fakes.xid import raise_xid


class World:
    """All nodes of a run, by name, at one moment."""

    def __init__(self, nodes: Iterable[Node], *, seed: int = 0) -> None:
        self.nodes = {node.name: node for node in nodes}
        self.seed = seed
        self.now_us = 0
        self._queue = EventQueue()

    def gpus(self) -> Iterator[Gpu]:
        """Every GPU, node by node."""
        for node in self.nodes.values():
            yield from node.gpus

    def node_of(self, gpu: Gpu) -> Node:
        """The node that a GPU sits in."""
        return self.nodes[gpu.node]

    def schedule(self, at_us: int, actor: str, action: Action) -> Ticket:
        """Let ``action`` happen at ``at_us``, or now if that is past. Ties go by ``actor``."""
        return self._queue.add(max(at_us, self.now_us), actor, action)

    def next_us(self) -> int:
        """When something next happens by itself; ``NEVER_US`` if nothing will."""
        return min(self._queue.next_us(), *(due for due, _ in self._crossings()), NEVER_US)

    def advance(self, to_us: int) -> bool:
        """Let everything happen that is due until ``to_us``. True if anything did.

        Going back does nothing: several views may ask in any order.
        """
        happened = False
        while (due_us := self.next_us()) <= to_us:
            self.now_us = max(self.now_us, due_us)
            happened = True
            if self._queue.next_us() <= due_us:
                self._queue.pop()()
            else:
                self._cross(due_us)
        self.now_us = max(self.now_us, to_us)
        return happened

    # --- what physics brings about ---------------------------------------------------------------

    def _crossings(self) -> Iterator[tuple[int, Gpu]]:
        for gpu in self.gpus():
            if gpu.lost is None:
                yield gpu.shutdown_us, gpu
            if any(use.memory.bytes_per_s for use in gpu.uses.values()):
                held = tuple(use.memory for use in gpu.uses.values())
                yield full_us(held, gpu.capacity_bytes, self.now_us), gpu

    def _cross(self, due_us: int) -> None:
        gpu = min(((due, g.node, g.index, g) for due, g in self._crossings()), key=lambda c: c[:3])[
            3
        ]
        if gpu.lost is None and gpu.shutdown_us <= due_us:
            raise_xid(self.node_of(gpu), gpu, 79, due_us, lookup=Lookup.UNKNOWN)
        else:
            self._run_out_of_memory(gpu, due_us)

    def _run_out_of_memory(self, gpu: Gpu, at_us: int) -> None:
        """The process that grows fails at its next allocation, and its memory is free."""
        growing = [pid for pid, use in gpu.uses.items() if use.memory.bytes_per_s > 0]
        greediest = max(growing, key=lambda pid: (gpu.uses[pid].memory.bytes_per_s, -pid))
        self.node_of(gpu).end_process(greediest, at_us)
