"""What a scenario is: what is given, what breaks when, and what is to come of it.

The file format is YAML 1.2 (``chaos/format/loader.py`` reads it)::

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

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from chaos.errors import Place
from chaos.fault import Fault
from chaos.fleet import Given
from chaos.selection import Inventory
from chaos.terms import Terms

if TYPE_CHECKING:
    from chaos.format.variation import Variation


@dataclass(frozen=True, slots=True)
class Heal:
    """Take back the fault of an earlier entry."""

    id: str


def started_job(what: Fault | Heal) -> str | None:
    """The id of the job that an entry starts, if it starts one."""
    job = getattr(what, "start", None)
    return job if isinstance(job, str) else None


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a timeline: at ``at_us`` on the run's clock, this breaks, or is healed."""

    at_us: int
    what: Fault | Heal
    place: Place
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A drill. ``vary`` is what may vary between runs, ``drawn`` what was drawn for this one.

    ``reseeded`` says whether ``seed`` is another than the file's; ``places`` are where the values
    of the file's keys stand.
    """

    name: str
    why: str
    path: Path
    given: Given
    timeline: tuple[Entry, ...] = ()
    seed: int = 0
    terms: Terms = field(default_factory=Terms)
    vary: tuple[Variation, ...] = ()
    drawn: Mapping[str, str] = field(default_factory=dict)
    reseeded: bool = False
    places: Mapping[str, Place] = field(default_factory=dict)

    def place_of(self, key: str) -> Place:
        """Where a key of the file has its value; the file's beginning, where it has no such key."""
        return self.places.get(key, Place(str(self.path), 1, 1))

    def seeded(self, seed: int | None) -> Scenario:
        """The same with another seed, and what varies drawn by it; with None as it is."""
        if seed is None:
            return self
        from chaos.format.variation import draw, varied  # it stands on this module

        return replace(varied(self, draw(self, seed)), seed=seed, reseeded=True)

    @property
    def inventory(self) -> Inventory:
        """What there is to select from: what is given, and the jobs that the timeline starts."""
        given = self.given.inventory
        started = (started_job(entry.what) for entry in self.timeline)
        jobs = dict.fromkeys([*given.jobs, *(job for job in started if job is not None)])
        return replace(given, jobs=tuple(jobs))

    @property
    def begins_us(self) -> int:
        """When the first thing breaks: deadlines count from here."""
        return min((entry.at_us for entry in self.timeline), default=0)

    @property
    def starts_us(self) -> dict[str, int]:
        """When each entry with an id comes."""
        return {entry.id: entry.at_us for entry in self.timeline if entry.id is not None}
