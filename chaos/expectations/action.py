"""An action is expected, by its effect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from chaos.expectation import Judge, ReadingContext, Timing, expectation
from chaos.judging.judges import Comes
from chaos.judging.matching import ActionMatch, Where, wrong_subject
from chaos.selection import Gpus, Inventory, JobId, Nodes
from fakes.actions import Effect


@expectation("action")
@dataclass(frozen=True, slots=True)
class ActionExpected:
    """Something is done to the world, whatever command did it."""

    action: Effect
    gpu: Gpus | None = None
    node: Nodes | None = None
    job: JobId | None = None

    timing: ClassVar[tuple[str, ...]] = ("within", "from")

    def wrong(self, context: ReadingContext) -> Iterator[tuple[str, str]]:
        """A subject that this effect never has."""
        yield from wrong_subject(self.action, self.gpu, self.job)

    def match(self, inventory: Inventory) -> ActionMatch:
        """Which actions are meant."""
        return ActionMatch(self.action, Where.of(inventory, self.gpu, self.node, self.job))

    def judge(self, timing: Timing, inventory: Inventory) -> Judge:
        """One who looks for the effect."""
        return Comes(self.match(inventory), timing)
