"""What nodes are to be like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from chaos.condition import condition
from chaos.expectation import ReadingContext
from chaos.selection import Inventory, Nodes
from fakes.world import World


class NodeWord(str, Enum):
    """What a node is, to the scheduler and by itself."""

    UP = "up"
    DOWN = "down"
    DRAINING = "draining"
    DRAINED = "drained"
    CORDONED = "cordoned"
    """Drained or draining: no new work is placed there."""


_SCHEDULED = (NodeWord.DRAINED, NodeWord.DRAINING, NodeWord.CORDONED)


@condition("node")
@dataclass(frozen=True, slots=True)
class NodeCondition:
    """Each of the nodes is up, down, draining, drained or cordoned."""

    node: Nodes
    is_: NodeWord

    def wrong(self, context: ReadingContext) -> Iterator[tuple[str, str]]:
        """What only a scheduler can make of it."""
        if self.is_ in _SCHEDULED and not context.scheduler:
            yield "is_", f"'{self.is_.value}' needs a scheduler: fleet: {{scheduler: slurm}}."

    def broken(self, world: World) -> str:
        """What the first that is otherwise is instead."""
        for name in self.node.resolve(Inventory.of(world)):
            words = words_of(world, name)
            if self.is_ not in words:
                return f"{name} is {' and '.join(sorted(word.value for word in words))}"
        return ""


def words_of(world: World, name: str) -> frozenset[NodeWord]:
    """Everything that a node is."""
    state = world.cluster.nodes[name]
    runs = world.nodes[name].is_up and state.down is None
    words = {NodeWord.UP if runs else NodeWord.DOWN}
    if state.drain is not None:
        drained = world.cluster.is_drained(name)
        words |= {NodeWord.CORDONED, NodeWord.DRAINED if drained else NodeWord.DRAINING}
    return frozenset(words)
