"""The world: nodes, and what is still to happen to them.

It reads no clock. Its driver tells it how far to :meth:`World.advance`, and may ask
:meth:`World.next_us` for the next moment at which anything happens by itself: a scheduled action,
memory running full, a GPU switching itself off for heat. Who watches a node asks when something
next happens to that one, and which nodes were touched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from fakes.driver.xid import raise_xid
from fakes.events import Action, EventQueue, Ticket
from fakes.hardware.gpu import Gpu
from fakes.hardware.memory import full_us
from fakes.hardware.thermal import NEVER_US
from fakes.jobs.cluster import Cluster
from fakes.jobs.texts import say_out_of_memory
from fakes.nccl.launch import Launches
from fakes.node import Node
from fakes.system.edits import Homes, note_edits


class World:
    """All nodes of a run, by name, at one moment; ``schedules``: jobs that fail are placed anew.

    ``homes`` are the users' directories, which the nodes share.
    """

    def __init__(self, nodes: Iterable[Node], *, seed: int = 0, schedules: bool = False) -> None:
        self.nodes = {node.name: node for node in nodes}
        self.seed = seed
        self.now_us = 0
        self.events = 0
        """How many scheduled actions have happened."""
        self._queue = EventQueue()
        for node in self.nodes.values():
            node.world = self
        self._touched: set[str] = set()
        self._expected: dict[Gpu, tuple[Ticket, ...]] = {}
        for gpu in self.gpus():
            gpu.on_change = self._expect
            self._expect(gpu, 0)
        self.cluster = Cluster(self, schedules=schedules)
        self.homes = Homes(self)
        note_edits(self)
        launches = Launches(self)
        for node in self.nodes.values():
            node.on_job_started = launches.started

    def gpus(self) -> Iterator[Gpu]:
        """Every GPU, node by node."""
        for node in self.nodes.values():
            yield from node.gpus

    def node_of(self, gpu: Gpu) -> Node:
        """The node that a GPU sits in."""
        return self.nodes[gpu.node]

    def schedule(
        self, at_us: int, actor: str, action: Action, *, concerns: Collection[str] = ()
    ) -> Ticket:
        """Let ``action`` happen at ``at_us``, or now if that is past. Ties go by ``actor``.

        It concerns the nodes in ``concerns``, else the one that a part of the actor's name is
        (``xid/n7/3``), else perhaps any.
        """
        if not concerns:
            concerns = [word for word in actor.split("/") if word in self.nodes][:1]
        return self._queue.add(max(at_us, self.now_us), actor, action, concerns)

    def next_us(self) -> int:
        """When something next happens by itself; ``NEVER_US`` if nothing will."""
        return self._queue.next_us()

    def next_on_us(self, node: str) -> int:
        """When something next happens that may concern a node; ``NEVER_US`` if nothing will."""
        return self._queue.next_on_us(node)

    def touch(self, node: str) -> None:
        """Something of a node may have changed."""
        self._touched.add(node)

    def take_touched(self) -> frozenset[str]:
        """The nodes of which something may have changed since the last call."""
        touched = frozenset(self._touched)
        self._touched.clear()
        return touched

    def advance(self, to_us: int) -> bool:
        """Let everything happen that is due until ``to_us``. True if anything did.

        Going back does nothing: several views may ask in any order.
        """
        happened = False
        while (due_us := self._queue.next_us()) <= to_us:
            self.now_us = max(self.now_us, due_us)
            happened = True
            self.events += 1
            ticket = self._queue.pop()
            action, ticket.action = ticket.action, None
            self._touched.update(ticket.concerns or self.nodes)
            if action is not None:
                action()
        self.now_us = max(self.now_us, to_us)
        return happened

    # --- what physics brings about ---------------------------------------------------------------

    def _expect(self, gpu: Gpu, at_us: int) -> None:
        """Schedule what a GPU's new conditions will bring about, in place of what the old would."""
        self._touched.add(gpu.node)
        for ticket in self._expected.pop(gpu, ()):
            ticket.cancel()
        actor = f"{gpu.node}/{gpu.index}"
        held = tuple(use.memory for use in gpu.uses.values())
        self._expected[gpu] = tuple(
            self.schedule(due_us, actor, action)
            for due_us, action in (
                (gpu.shutdown_us, lambda: self._shut_down(gpu)),
                (full_us(held, gpu.capacity_bytes, at_us), lambda: self._run_out_of_memory(gpu)),
            )
            if due_us < NEVER_US
        )
        self.node_of(gpu).supply.review(at_us)

    def _shut_down(self, gpu: Gpu) -> None:
        """A GPU too hot even at its lowest clock switches itself off, and is gone from the bus."""
        if gpu.lost is None:
            raise_xid(self.node_of(gpu), gpu, 79, self.now_us)

    def _run_out_of_memory(self, gpu: Gpu) -> None:
        """The process that grows fastest, or took memory last, fails, and its memory is free."""
        node = self.node_of(gpu)
        greediest = max(
            (process.pid for process in node.processes_on(gpu)),
            key=lambda pid: (gpu.uses[pid].memory.bytes_per_s, gpu.uses[pid].memory.since_us, -pid),
            default=None,
        )
        if greediest is not None:
            say_out_of_memory(node, gpu, node.processes[greediest], self.now_us)
            node.end_process(greediest, self.now_us)
