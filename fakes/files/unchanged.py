"""Trees that are made anew only when something they tell of has changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from weakref import WeakKeyDictionary

from fakes.files.registry import Files
from fakes.node import Node

_kept: WeakKeyDictionary[Node, dict[str, tuple[Hashable, Files]]] = WeakKeyDictionary()


def unless_changed(node: Node, path: str, state: Hashable, make: Callable[[], Files]) -> Files:
    """The tree at ``path`` as it was made last, if ``state`` is what it was then."""
    trees = _kept.setdefault(node, {})
    known = trees.get(path)
    if known is None or known[0] != state:
        known = trees[path] = (state, make())
    return known[1]
