"""The call of a command is expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from chaos.expectation import Judge, Timing, expectation
from chaos.format.patterns import CallPattern
from chaos.judging.judges import Comes
from chaos.judging.matching import CallMatch, Where
from chaos.selection import Inventory, Nodes


@expectation("call")
@dataclass(frozen=True, slots=True)
class CallExpected:
    """A command is called: ``*`` in it stands for anything."""

    call: CallPattern
    node: Nodes | None = None

    timing: ClassVar[tuple[str, ...]] = ("within", "from")

    def match(self, inventory: Inventory) -> CallMatch:
        """Which calls are meant."""
        return CallMatch(self.call, Where.of(inventory, None, self.node, None))

    def judge(self, timing: Timing, inventory: Inventory) -> Judge:
        """One who looks for the call."""
        return Comes(self.match(inventory), timing)
