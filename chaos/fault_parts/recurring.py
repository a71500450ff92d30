"""What happens again and again for as long as a fault is in force."""

from __future__ import annotations

from collections.abc import Callable

from chaos.undo import Undo
from fakes.clock import SECOND_US
from fakes.events import Ticket
from fakes.world import World

_MINUTE_US = 60 * SECOND_US


class Recurring:
    """Calls ``action`` every ``every_us`` from now on, first after that time, until it is ended."""

    def __init__(self, world: World, actor: str, every_us: int, action: Callable[[], None]) -> None:
        self._world = world
        self._actor = actor
        self._every_us = every_us
        self._action = action
        self._ticket = self._next()

    def end(self) -> None:
        """No more."""
        self._ticket.cancel()

    def _next(self) -> Ticket:
        due_us = self._world.now_us + self._every_us
        return self._world.schedule(due_us, self._actor, self._happen)

    def _happen(self) -> None:
        self._ticket = self._next()
        self._action()


def count_up(
    world: World, undo: Undo, actor: str, per_minute: int, count: Callable[[int], None]
) -> None:
    """Let a counter grow by so much a minute, at most once a second, until the fault is healed."""
    every_us = max(SECOND_US, _MINUTE_US // per_minute)
    total = 0

    def step() -> None:
        nonlocal total
        # In whole numbers, so that what a step cannot count the next one does.
        before = total * every_us * per_minute // _MINUTE_US
        total += 1
        count(total * every_us * per_minute // _MINUTE_US - before)

    recurring = Recurring(world, actor, every_us, step)
    undo.push(recurring.end)
