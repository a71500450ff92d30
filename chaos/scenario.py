"""What a scenario is: what is given, and what breaks when.

The file format is YAML 1.2 (``chaos/loader.py`` reads it)::

    scenario: thermal-one-gpu            # the file's name without its ending
    why: A blocked airway heats one GPU.
    given:
      fleet: {nodes: 1, gpus: 8, model: h100-sxm}
      jobs: [{id: train, gpus: "n0/*", load: 95%, memory: 60GiB}]
    timeline:
      - {id: block, at: 30s, thermal: {gpu: n0/3, airflow: 20%}}
      - {at: 5m, heal: block}
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from chaos.errors import Place
from chaos.fault import Fault
from chaos.fleet import Given


@dataclass(frozen=True, slots=True)
class Heal:
    """Take back the fault of an earlier entry."""

    id: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a timeline: at ``at_us`` on the run's clock, this breaks, or is healed."""

    at_us: int
    what: Fault | Heal
    place: Place
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A drill."""

    name: str
    why: str
    path: Path
    given: Given
    timeline: tuple[Entry, ...] = ()
    seed: int = 0
