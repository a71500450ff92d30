"""The journal of a run: what happened, line by line, in gputui's capture format.

To the capture's events (``log``, ``incident``) a run adds ``fault``, ``heal``, ``call``,
``action``, ``state``, ``background`` (what a runbook left running) and ``verdict``. Verdicts and
reports are readers of it; nothing else decides. The same scenario and seed write the same bytes:
times are the run's, and no PID of this machine is in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from fakes.clock import SECOND_US


@dataclass(frozen=True, slots=True)
class Record:
    """One line. ``number`` counts from 1, ``at_us`` is the run's time."""

    number: int
    at_us: int
    event: str
    facts: Mapping[str, Any]

    def line(self) -> str:
        """The line as it is written, without its end."""
        written = {"t": self.at_us / SECOND_US, "event": self.event, **self.facts}
        return json.dumps(written, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class TextOut(Protocol):
    """What a journal is written to."""

    def write(self, text: str, /) -> object:
        """Write some text."""
        ...

    def flush(self) -> object:
        """Send it off."""
        ...


class Journal:
    """Writes records, and tells each to whoever listens. ``out`` gets each line at once.

    Where several clocks are read, as in real time, ``in_order`` lets no line be earlier than the
    one before it.
    """

    def __init__(self, out: TextOut | None = None, *, in_order: bool = False) -> None:
        self.records: list[Record] = []
        self._in_order = in_order
        self._out = out
        self._listeners: list[Callable[[Record], None]] = []

    def listen(self, listener: Callable[[Record], None]) -> None:
        """Have every record from now on."""
        self._listeners.append(listener)

    def write(self, at_us: int, event: str, facts: Mapping[str, Any]) -> Record:
        """Note what happened."""
        if self._in_order and self.records:
            at_us = max(at_us, self.records[-1].at_us)
        record = Record(len(self.records) + 1, at_us, event, facts)
        self.records.append(record)
        if self._out is not None:
            self._out.write(record.line() + "\n")
            self._out.flush()
        for listener in self._listeners:
            listener(record)
        return record
