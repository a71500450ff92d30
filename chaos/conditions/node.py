"""What nodes are to be like."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from chaos.condition import condition
from chaos.errors import ScenarioError, did_you_mean, quoted
from chaos.expectation import NEEDS_SCHEDULER, ReadingContext
from chaos.format.yaml_tree import Items, Tree, Word, kind_of
from chaos.selection import Inventory, Nodes
from fakes.system.units import BY_NAME, full_name
from fakes.world import World


class NodeWord(str, Enum):
    """What a node is, to the scheduler and by itself."""

    UP = "up"
    DOWN = "down"
    DRAINING = "draining"
    DRAINED = "drained"
    CORDONED = "cordoned"
    """Drained or draining: no new work is placed there."""


@dataclass(frozen=True, slots=True)
class ServiceNames:
    """Names of services, as systemctl takes them."""

    names: tuple[str, ...]

    @classmethod
    def read(cls, tree: Tree, name: str, context: ReadingContext) -> ServiceNames:
        """One name or a list of them."""
        names = []
        for one in tree.items if isinstance(tree, Items) else (tree,):
            if not isinstance(one, Word) or not one.text:
                raise ScenarioError(one.place, f"{name}: expected a service, not {kind_of(one)}.")
            if full_name(one.text) not in BY_NAME:
                known = [unit.removesuffix(".service") for unit in BY_NAME]
                hint = did_you_mean(one.text.removesuffix(".service"), known)
                raise ScenarioError(one.place, f"{name}: unknown service {quoted(one.text)}{hint}")
            names.append(one.text)
        if not names:
            raise ScenarioError(tree.place, f"{name}: the list is empty.")
        return cls(tuple(names))


_SCHEDULED = (NodeWord.DRAINED, NodeWord.DRAINING, NodeWord.CORDONED)


@condition("node")
@dataclass(frozen=True, slots=True)
class NodeCondition:
    """Each of the nodes is up, down, draining, drained or cordoned, and services of its run."""

    node: Nodes
    is_: NodeWord | None = None
    services: ServiceNames | None = None

    def wrong(self, context: ReadingContext) -> Iterator[tuple[str, str]]:
        """What only a scheduler can make of it."""
        if self.is_ is not None and self.is_ in _SCHEDULED and not context.scheduler:
            yield "is_", f"'{self.is_.value}' {NEEDS_SCHEDULER}"

    def broken(self, world: World) -> str:
        """What the first that is otherwise is instead."""
        for name in self.node.resolve(Inventory.of(world)):
            words = words_of(world, name)
            if self.is_ is not None and self.is_ not in words:
                return f"{name} is {' and '.join(sorted(word.value for word in words))}"
            services = world.nodes[name].services
            for service in self.services.names if self.services else ():
                if not services.is_active(service):
                    return f"{service} does not run on {name}"
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
