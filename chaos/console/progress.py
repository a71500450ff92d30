"""How a game stands, as the control socket tells it, in types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Planned:
    """An entry of the timeline: when it comes, in words, and whether it came."""

    at_s: float
    text: str
    came: bool


@dataclass(frozen=True, slots=True)
class Awaited:
    """An expectation: from when, until when (None: the end), and what is decided (None: nothing).

    ``waits`` is False for what is not to happen.
    """

    text: str
    from_s: float
    deadline_s: float | None
    waits: bool
    ok: bool | None
    why: str
    measured_s: float | None


@dataclass(frozen=True, slots=True)
class Broken:
    """A fault in force."""

    id: str
    text: str
    since_s: float
    until_s: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the journal."""

    number: int
    t: float
    event: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Progress:
    """A game at a moment of its own time."""

    scenario: str
    why: str
    now_s: float
    rate: float
    paused: bool
    ended: bool
    points: int
    hints: int
    timeline: tuple[Planned, ...]
    expectations: tuple[Awaited, ...]
    faults: tuple[Broken, ...]
    lines: tuple[Line, ...]
    problems: tuple[str, ...]

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Progress:
        """What the control socket answered to ``progress`` (chaos/real_time/game.py)."""
        return cls(
            reply["scenario"],
            reply["why"],
            reply["now_s"],
            reply["rate"],
            reply["paused"],
            reply["ended"],
            reply["points"],
            reply["hints"],
            tuple(Planned(**one) for one in reply["timeline"]),
            tuple(Awaited(**one) for one in reply["expectations"]),
            tuple(_broken(one) for one in reply["faults"]),
            tuple(_line(one) for one in reply["records"]),
            tuple(reply["problems"]),
        )


def _broken(fault: Mapping[str, Any]) -> Broken:
    return Broken(fault["id"], fault["text"], fault["since_s"], fault["until_s"])


def _line(record: Mapping[str, Any]) -> Line:
    facts = {name: value for name, value in record.items() if name not in ("number", "t", "event")}
    return Line(record["number"], record["t"], record["event"], facts)
