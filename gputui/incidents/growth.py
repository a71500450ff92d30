"""Counters that only matter when they grow: what they were at the start is no news.

NVML's counters of errors are old when the monitor comes: of one that stands at 12 nobody knows
since when. What is told here is by how much one grew since it was first read, and when last. A
counter that falls was set back, by a reset of the GPU or the driver's being loaded anew: whatever
it had counted before is over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gputui.model import GpuSample, NodeSample
from gputui.sources.reasons import RESET_REQUIRED
from gputui.sources.turns import HEALTH_S

_MOST_GPUS = 256
_STOPPED = 2.5
"""A counter that stands still for so many times its step's length no longer grows."""

_COUNTERS = (
    "ecc_uncorrected_volatile",
    "ecc_dram_uncorrected_volatile",
    "ecc_sram_uncorrected_volatile",
    "remapped_rows_correctable",
    "remapped_rows_uncorrectable",
    "retired_pages_single_bit",
    "retired_pages_double_bit",
)

_FLAGS = ("remap_pending", "remap_failed", "retired_pages_pending")

_RATES = ("ecc_corrected_volatile", "violation_hw_thermal_ns")
"""Those of which it matters how fast they grow."""

_SLOW_S = 30.0
"""What had been quiet for longer than this began anew within that time."""

_SET_BACK = frozenset(_COUNTERS[:3])
"""Those that a reset sets back."""


@dataclass(slots=True)
class Growth:
    """``by`` how much a counter grew since ``since_s``, when it was first read, and when last."""

    by: int
    since_s: float
    last_s: float


@dataclass(slots=True)
class _Counter:
    first: int
    since_s: float
    value: int
    grew_s: float | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    """A counter went on: when, by how much, and how long after the reading before."""

    at_s: float
    by: int
    took_s: float

    @property
    def stopped_s(self) -> float:
        """By when the next one should have come."""
        return self.at_s + _STOPPED * self.took_s


class Counters:
    """The counters of every GPU of a node, bounded."""

    def __init__(self) -> None:
        self._counters: dict[tuple[str, str], _Counter] = {}
        self._steps: dict[tuple[str, str], _Step] = {}
        self._fell_s: dict[tuple[str, str], float] = {}
        self._reset_s: dict[str, float] = {}
        self._known: dict[str, tuple[float, GpuSample]] = {}

    def add(self, sample: NodeSample) -> None:
        """Take in a sample."""
        for gpu in sample.gpus:
            name = _name(gpu)
            before_s, before = self._known.get(name, (0.0, None))
            if before is None and len(self._known) >= _MOST_GPUS:
                continue
            if gpu.return_code:
                if before is not None and before.return_code != gpu.return_code:
                    self._known[name] = self._known[name][0], _silent(before, gpu.return_code)
                continue
            if before is not None and before.return_code == RESET_REQUIRED:
                self._reset_s[name] = sample.time_s
            for field in _COUNTERS:
                value = getattr(gpu, field)
                if value is not None and (before is None or value != getattr(before, field)):
                    self._count(name, field, value, sample.time_s)
            for field in _FLAGS if before is not None else ():
                if getattr(before, field) and getattr(gpu, field) is False:
                    self._fell_s[name, field] = sample.time_s
            for field in _RATES if before is not None else ():
                step = getattr(before, field), getattr(gpu, field)
                self._step((name, field), step, before_s, sample.time_s)
            self._known[name] = sample.time_s, _with_old(gpu, before)

    def growth(self, gpu: GpuSample, field: str) -> Growth | None:
        """By how much a counter has grown; None for not at all."""
        counter = self._counters.get((_name(gpu), field))
        if counter is None or counter.grew_s is None:
            return None
        return Growth(counter.value - counter.first, counter.since_s, counter.grew_s)

    def per_s(self, gpu: GpuSample, field: str, now_s: float) -> float:
        """How fast a counter grows, by its last readings; 0 if it has stopped."""
        step = self._steps.get((_name(gpu), field))
        if step is None or now_s > step.stopped_s:
            return 0.0
        return step.by / step.took_s

    def stopped_s(self, gpu: GpuSample, field: str) -> float | None:
        """When it will have stopped if it does not go on; None if it does not grow."""
        step = self._steps.get((_name(gpu), field))
        return None if step is None else step.stopped_s

    def fell_s(self, gpu: GpuSample, field: str) -> float | None:
        """When a flag was last seen to be off that had been on."""
        return self._fell_s.get((_name(gpu), field))

    def reset_s(self, gpu: GpuSample) -> float | None:
        """When a GPU was last seen to have been reset, or its driver to have been loaded anew."""
        return self._reset_s.get(_name(gpu))

    def last(self, gpu: GpuSample) -> GpuSample | None:
        """The last reading of a GPU that had any: what is missing is what it was before."""
        known = self._known.get(_name(gpu))
        return known[1] if known else None

    def last_s(self, gpu: GpuSample) -> float | None:
        """When that was."""
        known = self._known.get(_name(gpu))
        return known[0] if known else None

    def _count(self, name: str, field: str, value: int, time_s: float) -> None:
        counter = self._counters.get((name, field))
        if counter is None or value < counter.value:
            if counter is not None and field in _SET_BACK:
                self._reset_s[name] = time_s
            self._counters[name, field] = _Counter(value, time_s, value)
        elif value > counter.value:
            counter.value, counter.grew_s = value, time_s

    def _step(
        self,
        which: tuple[str, str],
        step: tuple[int | None, int | None],
        before_s: float,
        now_s: float,
    ) -> None:
        """A counter went on since the sample before. It is read every ten seconds, if not at every
        sample: the first step was made within that time.
        """
        before, value = step
        if before is None or value is None or value == before:
            return
        if value < before:
            self._steps.pop(which, None)
            return
        last = self._steps.get(which)
        went_s = HEALTH_S if last is None else min(now_s - last.at_s, _SLOW_S)
        self._steps[which] = _Step(now_s, value - before, max(went_s, now_s - before_s))


_KEPT = (*_COUNTERS, *_RATES, *_FLAGS)
"""Slow readings: when they are not there for once, they are as they were."""


def _with_old(gpu: GpuSample, before: GpuSample | None) -> GpuSample:
    if before is None:
        return gpu
    old = {
        field: getattr(before, field)
        for field in _KEPT
        if getattr(gpu, field) is None and getattr(before, field) is not None
    }
    return replace(gpu, **old) if old else gpu


def _silent(before: GpuSample, code: int) -> GpuSample:
    return replace(before, return_code=code)


def _name(gpu: GpuSample) -> str:
    return gpu.uuid or gpu.bus_id or str(gpu.index)
