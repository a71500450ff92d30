"""What a scenario is: what is given, what breaks when, and what is to come of it.

The file format is YAML 1.2 (``chaos/loader.py`` reads it)::

    scenario: thermal-one-gpu            # the file's name without its ending
    why: A blocked airway heats one GPU.
    given:
      fleet: {nodes: 1, gpus: 8, model: h100-sxm}
      jobs: [{id: train, gpus: "n0/*", load: 95%, memory: 60GiB}]
    timeline:
      - {id: block, at: 30s, thermal: {gpu: n0/3, airflow: 20%}}
      - {at: 5m, heal: block}
    expect:
      - {incident: GpuThermalThrottle, gpu: n0/3, cause: heat-sink, within: 2m}
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from chaos.errors import Place
from chaos.fault import Fault
from chaos.fleet import Given
from chaos.terms import Terms


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
    terms: Terms = field(default_factory=Terms)

    def seeded(self, seed: int | None) -> Scenario:
        """The same with another seed; with None as it is."""
        return self if seed is None else replace(self, seed=seed)

    @property
    def begins_us(self) -> int:
        """When the first thing breaks: deadlines count from here."""
        return min((entry.at_us for entry in self.timeline), default=0)

    @property
    def starts_us(self) -> dict[str, int]:
        """When each entry with an id comes."""
        return {entry.id: entry.at_us for entry in self.timeline if entry.id is not None}
