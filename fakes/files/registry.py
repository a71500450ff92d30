r"""How a file of a node is written, and found by its path.

A module of ``fakes/files/`` has functions that make files from the world as it is::

    @node_file("/proc/uptime")
    def uptime(node: Node, world: World) -> str:
        return f"{seconds_up(node, world.now_us):.2f} ..."

    @node_tree("/sys/bus/pci")
    def pci(node: Node, world: World) -> Files:
        return {"devices/0000:1b:00.0/numa_node": "0\n", "slots": Folder()}

A *file* stands in the place of the machine's, beside the others of its directory. A *tree* is a
directory that is the node's alone: what it does not have is not there, whatever the machine has.
Files that come and go belong in a tree. They are made anew whenever a program may look, so a
function is a pure one of the world, and quick.

Where they can be seen is the business of whoever runs programs on a node: under /proc only what
the machine's kernel has as well, anywhere else as they are.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module

from fakes.node import Node
from fakes.world import World


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link, and where it leads."""

    target: str


@dataclass(frozen=True, slots=True)
class Folder:
    """A directory that may be empty."""


Content = str | Link | Folder
Files = Mapping[str, Content]
"""What a tree has, by the path below it; directories on the way need no entry of their own."""


@dataclass(frozen=True, slots=True)
class View:
    """A path of the node, and what makes it. ``is_tree`` False: a single file, under "".

    What programs write into one that is ``writable`` is lost, as it is on a server.
    """

    path: str
    is_tree: bool
    make: Callable[[Node, World], Files]
    writable: bool = False


_views: dict[str, View] = {}

MakesFile = Callable[[Node, World], str]
MakesTree = Callable[[Node, World], Files]


def node_file(path: str, *, writable: bool = False) -> Callable[[MakesFile], MakesFile]:
    """Register a function as what makes the file at ``path``."""

    def register(function: MakesFile) -> MakesFile:
        _add(View(path, False, lambda node, world: {"": function(node, world)}, writable))
        return function

    return register


def node_tree(path: str) -> Callable[[MakesTree], MakesTree]:
    """Register a function as what makes all that there is below ``path``."""

    def register(function: MakesTree) -> MakesTree:
        _add(View(path, True, function))
        return function

    return register


def _add(view: View) -> None:
    if view.path in _views:
        raise ValueError(f"{view.path} is made by two functions")
    _views[view.path] = view


@cache
def views() -> tuple[View, ...]:
    """All paths that a node has of its own, in order."""
    folder = import_module("fakes.files")
    for module in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."):
        import_module(module.name)
    return tuple(view for _, view in sorted(_views.items()))


def all_files(node: Node, world: World) -> dict[str, Content]:
    """Everything that a node has of its own now, by its full path."""
    return {
        f"{view.path}/{name}" if name else view.path: content
        for view in views()
        for name, content in view.make(node, world).items()
    }
