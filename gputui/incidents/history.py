"""What rules may look back on: the last minute and a half of readings, and the logs' events."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Set
from dataclasses import replace
from typing import Generic, TypeVar

from gputui.incidents.boots import Boots
from gputui.incidents.failures import Failures
from gputui.incidents.growth import Counters
from gputui.incidents.lines import Lines
from gputui.incidents.neighbourhood import Neighbourhood
from gputui.incidents.ports import Ports
from gputui.incidents.thresholds import Thresholds
from gputui.logs.job_event import JobEvent
from gputui.logs.kernel import KernelEvent
from gputui.model import GpuSample, NodeSample, ProcessSample

WINDOW_S = 90.0
_MOST_SAMPLES = 1000
_EVENTS_OF_A_SORT = MOST_OF_A_SORT = 100
_MOST_SORTS = 500
_MOST_PROCESSES = 1000

DEFAULTS = Thresholds()

Value = TypeVar("Value")
Sort = TypeVar("Sort", bound=Hashable)
Event = TypeVar("Event")


class _Events(Generic[Sort, Event]):
    """Events by sort, bounded: a flood of one sort does not wash away another.

    ``groups_of`` names the groups that a sort is in: who looks at one passes over all others.
    """

    def __init__(self, groups_of: Callable[[Sort], tuple[Hashable, ...]]) -> None:
        self._groups_of = groups_of
        self._all: dict[Sort, deque[Event]] = {}
        self._groups: dict[Hashable, dict[Sort, deque[Event]]] = {}
        self._orders: dict[Sort, tuple[dict[Sort, deque[Event]], ...]] = {}

    def add(self, sort: Sort, event: Event, instead_of: Event | None = None) -> None:
        events = self._all.get(sort)
        if events is None:
            if len(self._all) >= _MOST_SORTS:
                self._forget(next(iter(self._all)))
            events = self._all[sort] = deque(maxlen=_EVENTS_OF_A_SORT)
            groups = (self._groups.setdefault(name, {}) for name in self._groups_of(sort))
            self._orders[sort] = (self._all, *groups)
        for order in self._orders[sort]:  # the sort heard last stands last
            order.pop(sort, None)
            order[sort] = events
        if instead_of is not None and instead_of in events:
            events[events.index(instead_of)] = event
        else:
            events.append(event)

    def of(self, sort: Sort) -> Iterable[Event]:
        return self._all.get(sort, ())

    def group(self, name: Hashable) -> Iterable[tuple[Sort, deque[Event]]]:
        """The sorts of a group with their events, in the order in which they were last heard."""
        return self._groups.get(name, {}).items()

    def in_group(self, name: Hashable) -> Iterator[Event]:
        for _, events in self.group(name):
            yield from events

    def where(self, holds: Callable[[Sort], bool]) -> Iterator[Event]:
        for sort, events in self._all.items():
            if holds(sort):
                yield from events

    def _forget(self, sort: Sort) -> None:
        for order in self._orders.pop(sort):
            del order[sort]
        for name in self._groups_of(sort):
            if not self._groups[name]:
                del self._groups[name]


_KernelSort = tuple[str | None, str, int | None]
_JobSort = tuple[str | None, str]


def _kernel_groups(sort: _KernelSort) -> tuple[Hashable, ...]:
    """A GPU's events, those of a kind, and those of a code of a kind on all GPUs."""
    bus_id, kind, code = sort
    return ("at", bus_id), ("of", kind), (kind, code)


def _job_groups(sort: _JobSort) -> tuple[Hashable, ...]:
    """A job's events."""
    return (sort[0],)


class History:
    """Bounded memory of one node, oldest first. The present sample and event are part of it.

    ``thresholds`` are the numbers that rules go by, ``counters`` by how much errors have grown,
    ``boots`` when the node was started.
    """

    def __init__(self, thresholds: Thresholds = DEFAULTS) -> None:
        self.thresholds = thresholds
        self.samples: deque[NodeSample] = deque()
        self.counters = Counters()
        self.boots = Boots()
        self.failures = Failures()
        self.ports = Ports()
        self.neighbours = Neighbourhood()
        self._lines = Lines()
        self._kernel: _Events[_KernelSort, KernelEvent] = _Events(_kernel_groups)
        self._jobs: _Events[_JobSort, JobEvent] = _Events(_job_groups)
        self._processes: dict[tuple[int, int], ProcessSample] = {}
        self.processes_before: tuple[ProcessSample, ...] = ()
        """The processes that there were in the sample before the present one."""
        self._processes_now: tuple[ProcessSample, ...] = ()

    def add_sample(self, sample: NodeSample) -> None:
        """Remember a sample (without its processes), and forget what is too old.

        A sample of the same moment takes the place of the one before it.
        """
        if self.samples and self.samples[-1].time_s == sample.time_s:
            self._lines.drop_last(self.samples.pop())
        else:
            self.processes_before = self._processes_now
        self._processes_now = sample.processes
        self._append(replace(sample, processes=()))
        self.ports.add(sample)
        self.neighbours.add(sample)
        self.counters.add(sample)
        self.boots.add(sample)
        while sample.time_s - self.samples[0].time_s > WINDOW_S and len(self.samples) > 2:
            self._lines.drop_first(self.samples.popleft())
        for process in sample.processes:
            whose = process.pid, process.gpu
            self._processes.pop(whose, None)
            self._processes[whose] = process
        while len(self._processes) > _MOST_PROCESSES:
            del self._processes[next(iter(self._processes))]

    def add_unchanged(self, times_s: Iterable[float]) -> int:
        """Remember samples that were not taken because they would have been like the last one.

        Returns how many: those of before the last one do not count.
        """
        if not self.samples:
            return 0
        last = self.samples[-1]
        later = [time_s for time_s in times_s if time_s > last.time_s]
        for time_s in later:
            self._append(replace(last, time_s=time_s))
        return len(later)

    def _append(self, sample: NodeSample) -> None:
        if len(self.samples) == _MOST_SAMPLES:
            self._lines.drop_first(self.samples.popleft())
        self.samples.append(sample)
        self._lines.add(sample)

    def add_event(self, event: KernelEvent, *, instead_of: KernelEvent | None = None) -> None:
        """Remember an event of the kernel log, in the place of one that told the same.

        A sort is a GPU, a kind and a code.
        """
        self._kernel.add((event.bus_id, event.kind, event.code), event, instead_of)

    def add_job_event(self, event: JobEvent) -> None:
        """Remember an event of a job's log. A sort is a job and a pattern."""
        self._jobs.add((event.job, event.pattern), event)

    def series(
        self, index: int, read: Callable[[GpuSample], Value | None], *, last_s: float = WINDOW_S
    ) -> list[tuple[float, Value]]:
        """What ``read`` gives of one GPU in the last seconds: (time, value), missing ones out."""
        if not self.samples:
            return []
        return self._lines.series(index, self.samples[-1].time_s - last_s, read)

    def has_counted(self, index: int, last_s: float) -> bool:
        """Whether a counter of errors on a GPU's links has changed in the last seconds."""
        if not self.samples:
            return False
        return self._lines.counters_changed_s(index) >= self.samples[-1].time_s - last_s

    def events_on(self, gpu: GpuSample) -> Iterator[KernelEvent]:
        """The log's events that name a GPU's PCI address, oldest first."""
        found = self._kernel.in_group(("at", gpu.bus_id)) if gpu.bus_id else iter(())
        return iter(sorted(found, key=lambda event: event.time_s))

    def xids_on(self, gpu: GpuSample, codes: Iterable[int]) -> list[KernelEvent]:
        """The Xids of some codes on a GPU, oldest first."""
        return self.xids_at(gpu.bus_id, codes)

    def xids_at(self, bus_id: str | None, codes: Iterable[int]) -> list[KernelEvent]:
        """The Xids of some codes at a PCI address, oldest first."""
        parts = [told for code in codes if (told := self._kernel.of((bus_id, "xid", code)))]
        found = [event for part in parts for event in part]
        return sorted(found, key=lambda event: event.time_s) if len(parts) > 1 else found

    def events(self, *kinds: str) -> list[KernelEvent]:
        """The log's events of some kinds (``xid``, ``aer`` ...), of all GPUs, oldest first."""
        if len(kinds) == 1:
            found = self._kernel.in_group(("of", *kinds))
        else:
            found = self._kernel.where(lambda sort: sort[1] in kinds)
        return sorted(found, key=lambda event: event.time_s)

    def xids_near(
        self, codes: Iterable[int], time_s: float, within_s: float, bus_id: str | None = None
    ) -> list[KernelEvent]:
        """The Xids of some codes at about a time, at a PCI address or of all GPUs, oldest first."""
        wanted = codes if isinstance(codes, Set) else frozenset(codes)
        there = self._kernel.group(("of", "xid") if bus_id is None else ("at", bus_id))
        found = []
        from_s, to_s = time_s - within_s, time_s + within_s
        for (_, kind, code), events in there:
            if code not in wanted or kind != "xid":
                continue
            for event in reversed(events):
                if event.time_s < from_s:
                    break
                if event.time_s <= to_s:
                    found.append(event)
        if len(found) > 1:
            found.sort(key=lambda event: event.time_s)
        return found

    def at_once(self, event: KernelEvent, within_s: float) -> list[KernelEvent]:
        """The events of the same kind and code as one, at about its time: the last of each GPU."""
        from_s, to_s = event.time_s - within_s, event.time_s + within_s
        found = []
        for _, events in self._kernel.group((event.kind, event.code)):
            last = events[-1]
            if last.time_s > to_s:
                last = next((one for one in reversed(events) if one.time_s <= to_s), last)
            if from_s <= last.time_s <= to_s:
                found.append(last)
        return found

    def job_events(self, job: str | None, *families: str) -> list[JobEvent]:
        """What a job's logs said, oldest first; of some families only, if any are named."""
        found = self._jobs.in_group(job)
        return sorted(
            (event for event in found if not families or event.family in families),
            key=lambda event: event.time_s,
        )

    def job_said(self, job: str | None, pattern: str) -> list[JobEvent]:
        """What a job's logs said of one pattern, as it was heard; the last of many."""
        return list(self._jobs.of((job, pattern)))

    def job_patterns(self, job: str | None) -> dict[str, float]:
        """The patterns that a job's logs have shown, each with the time of the last."""
        return {
            pattern: events[-1].time_s for (_, pattern), events in self._jobs.group(job) if events
        }

    def process(self, pid: int) -> tuple[ProcessSample, ...]:
        """A process as it was last seen, on each of its GPUs; also after it has ended."""
        return tuple(one for (number, _), one in self._processes.items() if number == pid)

    def gpus_of_job(self, job: str) -> list[GpuSample]:
        """The GPUs on which processes of a job were last seen, as last read."""
        indices = {one.gpu for one in self._processes.values() if one.job == job}
        gpus = self.samples[-1].gpus if self.samples else ()
        return [gpu for gpu in gpus if gpu.index in indices]

    def gpus_of_others(self, job: str) -> set[int]:
        """The indices of the GPUs on which processes of other jobs than this were last seen."""
        return {one.gpu for one in self._processes.values() if one.job not in (None, job)}

    def gpu_at(self, bus_id: str) -> GpuSample | None:
        """The GPU at a PCI address, as last read."""
        if not self.samples:
            return None
        return next((gpu for gpu in self.samples[-1].gpus if gpu.bus_id == bus_id), None)
