"""Selectors: which nodes, which GPUs, which job.

=============  ==========================================
``n7/3``       GPU 3 of node n7
``n7/*``       every GPU of node n7
``*/3``        GPU 3 of every node
``n4..n11``    nodes n4 to n11; with ``/3`` their GPUs 3
``n0,n1``      two selectors, joined
``3``          GPU 3 of node n0
=============  ==========================================

A selector that matches nothing is an error: a drill that breaks nothing proves nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from chaos.errors import did_you_mean, quoted, shortened
from fakes.hardware.gpu import Gpu
from fakes.world import World

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_NUMBERED = re.compile(r"([A-Za-z][A-Za-z0-9-]*?)([0-9]+)")
_INDICES = re.compile(r"([0-9]{1,6})(?:\.\.([0-9]{1,6}))?")


class SelectionError(ValueError):
    """A selector that says nothing, or selects nothing. Its text is one clause for the user."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """What there is to select from: node names in order, GPUs on each, and the jobs' ids."""

    nodes: tuple[str, ...]
    gpus: int
    jobs: tuple[str, ...] = ()

    @classmethod
    def of(cls, world: World) -> Inventory:
        """The inventory of a world; its jobs are those with a living process."""
        jobs = {p.spec.job: None for node in world.nodes.values() for p in node.processes.values()}
        jobs.pop("", None)  # processes that belong to none
        return cls(
            tuple(world.nodes), max(len(node.gpus) for node in world.nodes.values()), tuple(jobs)
        )

    def listed(self) -> str:
        """The nodes as a user reads them: ``n0`` or ``n0 to n15``."""
        first, last = self.nodes[0], self.nodes[-1]
        return first if len(self.nodes) == 1 else f"{first} to {last}"


def _nodes_of(term: str, inventory: Inventory) -> tuple[str, ...]:
    if term == "*":
        return inventory.nodes
    if ".." not in term:
        if term not in inventory.nodes:
            raise SelectionError(
                f"there is no node {quoted(term)}; the nodes are {inventory.listed()}"
            )
        return (term,)
    first, last = term.split("..", 1)
    for end in (first, last):
        _nodes_of(end, inventory)
    start, stop = inventory.nodes.index(first), inventory.nodes.index(last)
    if start > stop:
        raise SelectionError(f"the range {shortened(term)} runs backwards")
    return inventory.nodes[start : stop + 1]


def _indices_of(term: str, inventory: Inventory, node: str) -> range:
    if term == "*":
        return range(inventory.gpus)
    match = _INDICES.fullmatch(term)
    first = int(match[1]) if match else 0
    last = int(match[2]) if match and match[2] else first
    if first > last:
        raise SelectionError(f"the range {shortened(term)} runs backwards")
    if last >= inventory.gpus:
        raise SelectionError(
            f"there is no GPU {node}/{last}; {node} has GPUs 0 to {inventory.gpus - 1}"
        )
    return range(first, last + 1)


def _check_node_term(term: str, text: str) -> None:
    if term == "*" or _NAME.fullmatch(term):
        return
    first, dots, last = term.partition("..")
    ends = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    if not (dots and ends[0] and ends[1] and ends[0][1] == ends[1][1]):
        raise SelectionError(
            f"{quoted(text)} is not a selection of nodes, such as n0, n4..n11 or *"
        )


@dataclass(frozen=True, slots=True)
class Nodes:
    """A selection of nodes."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Nodes:
        """Read a selector; only its form is checked."""
        for term in text.replace(" ", "").split(","):
            _check_node_term(term, text)
        return cls(text.replace(" ", ""))

    def resolve(self, inventory: Inventory) -> tuple[str, ...]:
        """The names it selects, each once, in its own order."""
        terms = self.text.split(",")
        return tuple(dict.fromkeys(name for term in terms for name in _nodes_of(term, inventory)))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Gpus:
    """A selection of GPUs."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Gpus:
        """Read a selector; only its form is checked."""
        terms = []
        for term in text.replace(" ", "").split(","):
            nodes, slash, indices = term.rpartition("/")
            if not slash and _NAME.fullmatch(term):
                raise SelectionError(
                    f"{quoted(term)} is a node; all of its GPUs are {shortened(term)}/*"
                )
            nodes = nodes if slash else "n0"
            if indices != "*" and not _INDICES.fullmatch(indices):
                raise SelectionError(
                    f"{quoted(text)} is not a selection of GPUs, such as n0/3 or n0/*"
                )
            _check_node_term(nodes, text)
            terms.append(f"{nodes}/{indices}")
        return cls(",".join(terms))

    def resolve(self, inventory: Inventory) -> tuple[tuple[str, int], ...]:
        """The GPUs it selects as (node, index), each once, in its own order."""
        found: dict[tuple[str, int], None] = {}
        for term in self.text.split(","):
            nodes, _, indices = term.partition("/")
            for node in _nodes_of(nodes, inventory):
                found.update(
                    dict.fromkeys((node, i) for i in _indices_of(indices, inventory, node))
                )
        return tuple(found)

    def find(self, world: World) -> tuple[Gpu, ...]:
        """The GPUs themselves."""
        chosen = self.resolve(Inventory.of(world))
        return tuple(world.nodes[node].gpus[index] for node, index in chosen)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class JobId:
    """One job, by its id."""

    text: str

    @classmethod
    def parse(cls, text: str) -> JobId:
        """Read an id; only its form is checked."""
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", text):
            raise SelectionError(f"{quoted(text)} is not a job's id, such as train")
        return cls(text)

    def resolve(self, inventory: Inventory) -> str:
        """The id, if there is such a job."""
        if self.text not in inventory.jobs:
            hint = did_you_mean(self.text, inventory.jobs, "Jobs").rstrip(".")
            raise SelectionError(f"there is no job {quoted(self.text)}{hint}")
        return self.text

    def __str__(self) -> str:
        return self.text


Selection = Nodes | Gpus | JobId
