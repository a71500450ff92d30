"""The readings of the GPUs that a scenario is about, for whoever draws the run.

A line of the journal whenever one of them has changed by as much as a drawing would show; what
sensors add to the truth is left out, and so is what nobody asked about.
"""

from __future__ import annotations

from chaos.journal import Journal
from chaos.scenario import Heal, Scenario
from chaos.selection import Gpus
from fakes.hardware.gpu import Gpu
from fakes.world import World

_MOST_GPUS = 8
_LEAST = {"temperature_c": 1.0, "sm_clock_mhz": 30.0, "power_mw": 20_000.0, "memory_mib": 1024.0}
"""What change of each is worth a line."""


class Readings:
    """Writes the readings of the GPUs that a scenario's faults and states name."""

    def __init__(self, scenario: Scenario, world: World, journal: Journal) -> None:
        self._world = world
        self._journal = journal
        self._gpus = tuple(
            world.nodes[node].gpus[index] for node, index in named_gpus(scenario)[:_MOST_GPUS]
        )
        self._last: dict[Gpu, dict[str, float]] = {}

    def look(self) -> None:
        """Write what has changed since the last line."""
        now_us = self._world.now_us
        for gpu in self._gpus:
            reading = {} if gpu.lost is not None else _reading(gpu, now_us)
            last = self._last.get(gpu)
            if last is not None and last.keys() == reading.keys() and not _differ(last, reading):
                continue
            self._last[gpu] = reading
            facts = {"node": gpu.node, "gpu": gpu.index, **reading}
            self._journal.write(now_us, "reading", facts)


def named_gpus(scenario: Scenario) -> list[tuple[str, int]]:
    """The GPUs that are named in the timeline and in what is expected, each once."""
    inventory = scenario.inventory
    found: dict[tuple[str, int], None] = {}
    subjects = [entry.what for entry in scenario.timeline if not isinstance(entry.what, Heal)]
    for subject in (*subjects, *(one.expected for one in scenario.terms.expectations)):
        gpu = getattr(subject, "gpu", None)
        if isinstance(gpu, Gpus):
            found.update(dict.fromkeys(gpu.resolve(inventory)))
    return list(found)


def _reading(gpu: Gpu, now_us: int) -> dict[str, float]:
    """A GPU's truth, rounded to what is worth telling."""
    return {
        "temperature_c": round(gpu.true_temperature_c(now_us), 1),
        "sm_clock_mhz": gpu.sm_clock_mhz(now_us),
        "power_mw": gpu.power_mw(now_us) // 1000 * 1000,
        "memory_mib": gpu.memory_used_bytes(now_us) >> 20,
    }


def _differ(last: dict[str, float], now: dict[str, float]) -> bool:
    return any(abs(now[name] - last[name]) >= least for name, least in _LEAST.items() if now)
