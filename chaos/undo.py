"""How a fault is taken back: every step is registered before the change that it undoes.

Faults may overlap. Two that touch the same thing share its *layers*: the newest in force holds, and
only when the last of them is gone does the thing return to what it was before the first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

from fakes.events import Action
from fakes.world import World

_T = TypeVar("_T")


class Layers:
    """What the faults in force have made of each thing, oldest first, and what it was before."""

    def __init__(self) -> None:
        self._base: dict[Hashable, Any] = {}
        self._layers: dict[Hashable, dict[object, Any]] = {}

    def add(self, what: Hashable, owner: object, value: Any) -> None:
        """Let ``owner`` have a layer over ``what``, which now reads ``value``."""
        if what not in self._layers:
            self._base[what] = value
            self._layers[what] = {}
        self._layers[what][owner] = value

    def record(self, what: Hashable, owner: object, value: Any) -> None:
        """What ``owner``'s layer has made of it."""
        self._layers[what][owner] = value

    def drop(self, what: Hashable, owner: object) -> Any:
        """Take ``owner``'s layer away; what remains in force."""
        layers = self._layers[what]
        layers.pop(owner, None)
        if layers:
            return list(layers.values())[-1]
        del self._layers[what]
        return self._base.pop(what)


class Undo:
    """The steps that take one fault back, newest first."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._steps: list[Callable[[], None]] = []

    def push(self, step: Callable[[], None]) -> None:
        """Register a step. Do it before the change."""
        self._steps.append(step)

    def schedule(self, world: World, at_us: int, actor: str, action: Action) -> None:
        """Let a part of the fault happen later, unless it has been taken back by then."""
        ticket = world.schedule(at_us, actor, action)
        self.push(ticket.cancel)

    @contextmanager
    def keeping(
        self, what: Hashable, read: Callable[[], _T], put: Callable[[_T], None]
    ) -> Iterator[None]:
        """Change ``what`` within the block; its value goes back when the fault does.

        ``what`` names the thing, so that faults which share it find each other.
        """
        owner = object()
        self._layers.add(what, owner, read())
        self.push(lambda: put(self._layers.drop(what, owner)))
        try:
            yield
        finally:
            self._layers.record(what, owner, read())

    def keeping_attribute(self, owner: Hashable, name: str) -> AbstractContextManager[None]:
        """Change an attribute of ``owner`` within the block, as :meth:`keeping` does."""
        return self.keeping(
            (owner, name),
            lambda: getattr(owner, name),
            lambda value: setattr(owner, name, value),
        )

    def run(self) -> tuple[Exception, ...]:
        """Take every step, whether or not another fails; what failed. Then no step is left."""
        failed = []
        while self._steps:
            step = self._steps.pop()
            try:
                step()
            except Exception as error:
                failed.append(error)
        return tuple(failed)
