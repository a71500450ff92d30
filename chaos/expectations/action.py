"""An action is expected, by its effect."""

from __future__ import annotations

from dataclasses import dataclass

from chaos.expectation import Judge, Timing, expectation
from chaos.judges import Comes
from chaos.matching import ActionMatch, Where
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

    def judge(self, timing: Timing, inventory: Inventory) -> Judge:
        """One who looks for the effect."""
        where = Where.of(inventory, self.gpu, self.node, self.job)
        return Comes(ActionMatch(self.action, where), timing)
