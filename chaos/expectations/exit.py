"""The end of the runbook is expected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from chaos.errors import ScenarioError, quoted
from chaos.expectation import Judge, Outcome, Timing, expectation
from chaos.expectations.started import NEVER_STARTED
from chaos.format.yaml_tree import Tree, Word, kind_of
from chaos.journal import Record
from chaos.selection import Inventory

_NUMBER = re.compile(r"[0-9]{1,3}")
_MOST = 255


@dataclass(frozen=True, slots=True)
class ExitStatus:
    """What a program says at its end."""

    number: int

    @classmethod
    def read(cls, tree: Tree, name: str, context: object) -> ExitStatus:
        """The status under a key."""
        if not isinstance(tree, Word):
            raise ScenarioError(tree.place, f"{name}: expected a number, not {kind_of(tree)}.")
        if not _NUMBER.fullmatch(tree.text) or int(tree.text) > _MOST:
            raise ScenarioError(
                tree.place, f"{name}: {quoted(tree.text)} is no exit status from 0 to {_MOST}."
            )
        return cls(int(tree.text))


@expectation("exit")
@dataclass(frozen=True, slots=True)
class ExitExpected:
    """The runbook ends, each time with this status."""

    exit: ExitStatus

    timing: ClassVar[tuple[str, ...]] = ("within", "from")

    def judge(self, timing: Timing, inventory: Inventory) -> Judge:
        """One who reads how it ended."""
        return _Ends(self.exit.number, timing)


class _Ends:
    """Judges every end of the runbook: the first that is otherwise decides."""

    waits = True

    def __init__(self, status: int, timing: Timing) -> None:
        self._status = status
        self._timing = timing
        self._ends: list[Record] = []
        self._started = False

    def see(self, record: Record) -> None:
        """Note an end."""
        self._started = self._started or record.event == "runbook"
        if record.event == "runbook" and record.facts.get("exit") is not None:
            self._ends.append(record)

    def outcome(self, now_us: int) -> Outcome | None:
        """Decided by an end that is not as expected, or by none in time."""
        deadline_us = self._timing.deadline_us
        for record in self._ends:
            measured_us = record.at_us - self._timing.from_us
            if record.facts["exit"] != self._status:
                why = f"ended with {record.facts['exit']}"
                return Outcome(False, measured_us, why, (record.number,))
            if deadline_us is not None and record.at_us > deadline_us:
                return Outcome(False, measured_us, "ended too late", (record.number,))
        if not self._ends and deadline_us is not None and now_us > deadline_us:
            return Outcome(False, None, "did not end in time")
        return None

    def at_end(self, end_us: int) -> Outcome:
        """Every end was as expected, and there was one."""
        decided = self.outcome(end_us)
        if decided is not None:
            return decided
        if not self._ends:
            if not self._started:
                return Outcome(False, None, NEVER_STARTED)
            return Outcome(False, None, "no runbook came to its end")
        last = self._ends[-1]
        return Outcome(
            True, last.at_us - self._timing.from_us, f"ended with {self._status}", (last.number,)
        )
