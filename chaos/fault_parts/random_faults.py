"""Scenarios of random faults, for campaigns: from every fault that there is, by a seed.

A scenario is text, so that what fails can be kept as a file and run again. What must hold in it
holds for every runbook: it disturbs no node that is not drained, and no node but its own.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from chaos.fault import ArgumentError, Fault, FaultError, FaultType, families, parse_fault
from chaos.fleet import Fleet, Given, Job, build_world
from chaos.format.values import (
    Celsius,
    Count,
    Duration,
    Numbers,
    Percent,
    Rate,
    Size,
    Watts,
    plain_type,
    shown,
)
from chaos.judging.matching import incident_kinds
from chaos.run import Run
from chaos.selection import Gpus, JobId, Nodes

_GPUS = 8
_MOST_FAULTS = 3
_LATEST_S = 60
_LEFT_OUT = frozenset({"log", "file", "env", "series", "import"})
"""Families whose arguments are texts: nothing is random about them that means anything."""

_CODES = ("13", "31", "43", "48", "63", "74", "79", "94", "95", "119", "120")
"""Xids with an effect, application errors among them."""

_WORDS: dict[type[Any], Sequence[str]] = {
    Nodes: ("n0",),
    JobId: ("train",),
    Percent: ("10%", "20%", "40%", "60%", "80%"),
    Count: ("1", "2", "5", "12"),
    Duration: ("1s", "5s", "30s"),
    Size: ("1GiB", "8GiB", "20GiB"),
    Rate: ("100MiB/s", "500MiB/s", "2GiB/s"),
    Celsius: ("35C", "45C", "60C"),
    Watts: ("300W", "400W", "5kW"),
    Numbers: ("0", "4", "0..3", "all"),
    bool: ("true",),
}


@dataclass(frozen=True, slots=True)
class Drawn:
    """A fault at a moment, in words."""

    at_s: int
    family: str
    arguments: tuple[tuple[str, str], ...]

    def line(self) -> str:
        """It as an entry of a timeline."""
        words = ", ".join(f'{name}: "{value}"' for name, value in self.arguments)
        return f"  - {{at: {self.at_s}s, {self.family}: {{{words}}}}}"


def draw_faults(seed: int) -> tuple[Drawn, ...]:
    """Up to three faults, in the order of time."""
    chance = random.Random(f"campaign/{seed}")
    kinds = [
        kind for family, ones in families().items() if family not in _LEFT_OUT for kind in ones
    ]
    found: list[Drawn] = []
    wanted = chance.randint(1, _MOST_FAULTS)
    while len(found) < wanted:
        drawn = _draw(chance.choice(kinds), chance)
        if drawn is not None:
            found.append(drawn)
    return tuple(sorted(found, key=lambda one: one.at_s))


def _draw(kind: FaultType, chance: random.Random) -> Drawn | None:
    """A fault of a class; None if it takes what cannot be drawn."""
    words: dict[str, str] = {}
    for argument in kind.arguments:
        if not argument.required and argument.name != kind.by:
            continue
        choices = _choices(argument.name, plain_type(argument.type))
        if not choices:
            return None
        words[argument.name] = chance.choice(choices)
    try:
        fault = parse_fault(kind.family, words)
    except ArgumentError:
        return None
    if not _applies(fault):
        return None
    return Drawn(chance.randint(1, _LATEST_S), kind.family, tuple(words.items()))


def _applies(fault: Fault) -> bool:
    """Whether a fault can be applied to the world of these scenarios as it begins."""
    fleet = Fleet(nodes=2, gpus=_GPUS, scheduler="slurm")
    world = build_world(Given(fleet, (Job("train", Gpus("n0/*")),)))
    try:
        Run(world).inject(fault)
    except FaultError:
        return False
    return True


def _choices(name: str, kind: type[Any]) -> Sequence[str]:
    if kind is Gpus:
        return [f"n0/{index}" for index in range(_GPUS)]
    if kind is int:
        return _CODES if name == "code" else ("1", "4", "8")
    if issubclass(kind, Enum):
        return [shown(member) for member in kind]
    return _WORDS.get(kind, ())


def scenario_text(name: str, drawn: Sequence[Drawn], seed: int, runbook: Path | None) -> str:
    """The scenario file of these faults, with what must hold of any runbook."""
    lines = [
        f"scenario: {name}",
        "why: Whatever breaks, nothing is disturbed that is not drained, and no other node.",
        f"seed: {seed}",
        "given:",
        f"  fleet: {{nodes: 2, gpus: {_GPUS}, model: h100-sxm, scheduler: slurm}}",
        "  jobs: [{id: train, nodes: n0}]",
        "timeline:",
        *(one.line() for one in drawn),
    ]
    if runbook is not None:
        lines.append(f'runbook: {{run: "{runbook}", args: ["{{node}}", "{{gpu}}"], on: n0}}')
    drained = "until: {node: n0, is: drained}"
    lines += [
        "expect:",
        f"  - {{never: {{action: reboot}}, {drained}}}",
        f"  - {{never: {{action: power_cycle}}, {drained}}}",
        f"  - {{never: {{action: reset_gpu}}, {drained}}}",
        "  - {touched: {nodes: [n0], jobs: [train]}}",
        f"allow: [{', '.join(incident_kinds())}]",
        "stop: {after: 15m}",
    ]
    return "\n".join(lines) + "\n"
