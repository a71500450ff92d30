"""What the facilitator's screen says: a game's progress in, styled lines out.

Nothing here knows the terminal; a line is a list of words with the role that each plays.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from chaos.console.progress import Awaited, Line, Progress

_SOON_S = 30.0


class Role(Enum):
    """What a word is on the screen."""

    PLAIN = "plain"
    DIM = "dim"
    TITLE = "title"
    GOOD = "good"
    BAD = "bad"
    SOON = "soon"


@dataclass(frozen=True, slots=True)
class Said:
    """Some words in one role."""

    text: str
    role: Role = Role.PLAIN


Row = tuple[Said, ...]


def clock(seconds: float) -> str:
    """Minutes and seconds: ``2:05``."""
    whole = int(seconds)
    return f"{whole // 60}:{whole % 60:02}"


def head(now: Progress) -> Row:
    """The first line: which game, where it stands."""
    pace = "" if now.rate == 1 else f" at {now.rate:g} x"
    state = Said("RUNNING", Role.GOOD)
    if now.ended:
        state = Said("DECIDED", Role.TITLE)
    elif now.paused:
        state = Said("PAUSED", Role.SOON)
    hints = "" if not now.hints else f"   {now.hints} hint{'s' if now.hints > 1 else ''}"
    return (
        Said(now.scenario, Role.TITLE),
        Said(f"   {clock(now.now_s)}{pace}   "),
        state,
        Said(f"   score {now.points}{hints}"),
    )


def next_step(now: Progress, run: str) -> Row:
    """What to do next, for whoever has not done this before."""
    if now.paused and now.now_s < 1:
        return (Said("the clock stands: space lets the game begin", Role.SOON),)
    return (Said(f"players: gpuchaos enter --node {run}   (a shell; or -- gputui)", Role.DIM),)


def plan(now: Progress) -> Iterator[Row]:
    """The timeline: what came, what is to come and when."""
    for one in now.timeline:
        if one.came:
            yield (Said(f"{clock(one.at_s):>6} "), Said(one.text))
        else:
            left = f"  in {clock(one.at_s - now.now_s)}"
            yield (Said(f"{clock(one.at_s):>6} {one.text}", Role.DIM), Said(left, Role.DIM))
    planned = {one.text for one in now.timeline}
    for fault in now.faults:
        if fault.text not in planned:
            yield (Said(f"{clock(fault.since_s):>6} {fault.text}"), Said("  by hand", Role.DIM))


def faults(now: Progress) -> Iterator[Row]:
    """What is broken now, by the id that heals it."""
    if not now.faults:
        yield (Said("nothing is broken", Role.DIM),)
    for fault in now.faults:
        text = f"{fault.id}: {fault.text}, for {clock(now.now_s - fault.since_s)}"
        until = "" if fault.until_s is None else f", heals in {clock(fault.until_s - now.now_s)}"
        yield (Said(text + until, Role.BAD),)


def deadlines(now: Progress) -> Iterator[Row]:
    """The expectations: what is decided, and how long is left."""
    for one in now.expectations:
        yield (*_standing(one, now), Said(f" {_bare(one.text)}"))


def journal(now: Progress) -> Iterator[Row]:
    """What people and machines did, newest first; without what the screen shows elsewhere."""
    for line in reversed(now.lines):
        said = _told(line)
        if said is not None:
            yield (Said(f"{clock(line.t):>6} ", Role.DIM), said)


def _standing(one: Awaited, now: Progress) -> Row:
    if one.ok is True:
        when = "" if one.measured_s is None or not one.waits else f" after {clock(one.measured_s)}"
        return (Said(f"met{when}".ljust(14), Role.GOOD),)
    if one.ok is False:
        return (Said("NOT MET".ljust(14), Role.BAD),)
    if not one.waits:
        return (Said("so far".ljust(14), Role.DIM),)
    if one.deadline_s is None:
        return (Said("open".ljust(14)),)
    if now.now_s < one.from_s:
        return (Said(f"{clock(one.deadline_s - one.from_s)} from then".ljust(14), Role.DIM),)
    left_s = max(0.0, one.deadline_s - now.now_s)
    soon = Role.SOON if left_s <= _SOON_S * now.rate else Role.PLAIN
    return (Said(f"{clock(left_s)} left".ljust(14), soon),)


def _told(line: Line) -> Said | None:
    facts = line.facts
    if line.event == "action":
        done = "" if facts["ok"] else " (refused)"
        text = f"{facts['action']} {_whom(line)} {facts['detail']}".rstrip()
        return Said(f"{text}{done}", Role.TITLE)
    if line.event == "call":
        return Said(f"{facts['node']}$ {shlex.join(facts['argv'])}")
    if line.event == "incident":
        one = facts["incident"]
        whom = one["subject"] if one["gpu"] is None else f"GPU {one['gpu']}"
        text = f"gputui: {one['kind']} {one['host']} {whom}"
        if one["cleared_s"] is not None:
            return Said(f"{text} cleared", Role.GOOD)
        return Said(f"{text}: {one['cause_text'] or one['cause']}", Role.BAD)
    if line.event == "fault":
        return Said(f"broke: {facts['fault']} ({facts['id']})", Role.BAD)
    if line.event == "heal":
        return Said(f"healed {facts['id']}", Role.GOOD)
    if line.event in ("pause", "resume", "end"):
        return Said({"pause": "paused", "resume": "went on", "end": "decided"}[line.event])
    if line.event == "hint":
        return Said(f"hint: {facts['text']}", Role.SOON)
    return None


def _whom(line: Line) -> str:
    facts = line.facts
    if "gpu" in facts:
        return f"{facts['node']}/{facts['gpu']}"
    return str(facts.get("job") or facts.get("node") or "")


def _bare(text: str) -> str:
    """An expectation without its braces."""
    return text[1:-1] if text.startswith("{") and text.endswith("}") else text
