"""Cases by a value that mostly grows: who has the least is found without a look at all.

An entry may tell less than is so by now; it is put right when it comes up. Where a value falls, the
case has to be noted again.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any, Generic, TypeVar

from gputui.incidents.case import Case

Value = TypeVar("Value", bound=Any)

_SPARE = 4
"""Times as many entries as cases: then those that no longer count are thrown out."""

_LEAST = 100


class Queue(Generic[Value]):
    """``value_of`` gives a case's value, or None while it has none.

    Cases are told apart, and those of the same value put in order, by their numbers.
    """

    def __init__(self, value_of: Callable[[Case], Value | None]) -> None:
        self._value_of = value_of
        self._entries: list[tuple[Value, int, Case]] = []
        self._noted: dict[int, Value] = {}

    def note(self, case: Case) -> None:
        """Take in a case whose value is new, or may have fallen."""
        value = self._value_of(case)
        if value is None:
            return
        noted = self._noted.get(case.number)
        if noted is None or value < noted:
            self._noted[case.number] = value
            heappush(self._entries, (value, case.number, case))
            if len(self._entries) > _LEAST + _SPARE * len(self._noted):
                self._entries = [one for one in self._entries if self._counts(one)]
                heapify(self._entries)

    def forget(self, case: Case) -> None:
        """Leave a case out from now on."""
        self._noted.pop(case.number, None)

    def take(self, until: Value) -> list[Case]:
        """The cases whose value is so much at most; those that stay have to be noted again."""
        taken: list[Case] = []
        while self._entries and self._entries[0][0] <= until:
            entry = heappop(self._entries)
            if not self._counts(entry):
                continue
            _, number, case = entry
            del self._noted[number]
            value = self._value_of(case)
            if value is None:
                continue
            if value <= until:
                taken.append(case)
            else:
                self.note(case)
        return taken

    def least(self) -> Case | None:
        """The case with the least value of all."""
        while self._entries:
            entry = self._entries[0]
            value, number, case = entry
            if self._counts(entry):
                now = self._value_of(case)
                if now == value:
                    return case
                del self._noted[number]
                self.note(case)
                # Its old entry counts no longer, for what is noted is another value.
            else:
                heappop(self._entries)
        return None

    def _counts(self, entry: tuple[Value, int, Case]) -> bool:
        value, number, _ = entry
        return bool(self._noted.get(number) == value)
