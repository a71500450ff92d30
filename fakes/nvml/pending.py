"""Calls whose answer takes its time: a slow driver, a hang, a wait for an event.

A carrier keeps such a call until it is due on the run's clock, and asks again whenever something
may have happened: an event ends a wait, a healed fault ends a hang. What acts on the world is asked
once, however long it takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from fakes.clock import ScaledClock
from fakes.driver.disturbance import INIT
from fakes.nvml.answer import FOREVER_US, Answer, Call
from fakes.nvml.table import BY_NAME

Ask = Callable[[Call, int], Answer]
"""Answers a call at a moment of the run."""

Park = Callable[[int], None]
"""Lets the run's clock go on until a moment (microseconds), or until something has happened before
that; ``FOREVER_US`` is a moment that does not come."""


_LOOK_S = 0.01


def sleeping(clock: ScaledClock) -> Park:
    """A park in real time: it sleeps, and comes back now and then to see what has happened."""

    def park(due_us: int) -> None:
        left_s = clock.real_seconds(due_us - clock.now_us())
        time.sleep(max(0.0, min(left_s, _LOOK_S)))

    return park


class Pending:
    """A call that was answered with a delay at ``asked_us``."""

    __slots__ = ("_answer", "call", "due_us")

    def __init__(self, call: Call, answer: Answer, asked_us: int) -> None:
        self.call = call
        self.due_us = min(asked_us + answer.delay_us, FOREVER_US)
        self._answer = answer

    def settle(self, ask: Ask, at_us: int) -> Answer | None:
        """The answer to give at ``at_us``; None while it is not time yet."""
        answer = ask(self.call, at_us) if self._is_repeatable() else self._answer
        return answer if answer.delay_us <= 0 or at_us >= self.due_us else None

    def _is_repeatable(self) -> bool:
        """Whether asking again is harmless: it reads, it waits, or it has not happened yet."""
        name = self.call.function
        return (
            name == INIT
            or BY_NAME[name].paged
            or "Wait" in name
            or self._answer.delay_us >= FOREVER_US
        )


def in_its_time(ask: Ask, now_us: Callable[[], int], park: Park) -> Callable[[Call], Answer]:
    """Answer each call when its time has passed; the caller is parked meanwhile.

    For the in-process carrier, whose callers wait in the very thread that drives the world.
    """

    def respond(call: Call) -> Answer:
        asked_us = now_us()
        answer = ask(call, asked_us)
        if answer.delay_us <= 0:
            return answer
        pending = Pending(call, answer, asked_us)
        while True:
            park(pending.due_us)
            settled = pending.settle(ask, now_us())
            if settled is not None:
                return settled

    return respond
