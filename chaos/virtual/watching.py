"""gputui on a run in virtual time: what it would say, and when.

Everything between the world and an incident is gputui's own: nvidia-ml-py's real code over the
in-process carrier, the reader that the sampler uses, the parsers of its logs, and the assessor that
the monitor uses. Only the clock is the run's::

    with Watching(run) as watching:
        watching.until(60_000_000)
        watching.told        # the incidents at every change of one, with the time of each

It looks at a node at multiples of its interval. *Polling* looks at each of them. *Event-driven* it
looks only where something may be seen that the last look did not see: after anything happened to
the node (and just before, so that rates are those of one interval), for as long as its readings
keep changing, when the engine wants to look (:attr:`gputui.assess.Assessor.next_look_s`), and while
it has not decided. Both ways a line of the kernel log is heard when it is written, and a grave one
makes it look at once, as the monitor does.

It is long because when to look next depends on everything that the last look saw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, fields
from enum import Enum
from operator import attrgetter
from types import TracebackType
from typing import Any

from chaos.run import Run
from chaos.virtual.sampler import VirtualSampler
from fakes.clock import SECOND_US
from fakes.hardware.thermal import NEVER_US
from fakes.jobs.log import JobLine
from fakes.node import Node
from fakes.nvml.answer import Answer, Call
from fakes.nvml.inprocess import installed
from fakes.system.kernel_log import KernelLine
from gputui.assess import Assessor
from gputui.incidents.history import DEFAULTS, WINDOW_S
from gputui.incidents.inventory import Expected
from gputui.incidents.thresholds import Thresholds
from gputui.logs.job_event import JobEvent
from gputui.logs.job_reader import JobReader, Origin
from gputui.logs.kernel import KernelParser
from gputui.logs.nvml import parse_xid_line
from gputui.model import GpuSample, Incident, NodeSample, Snapshot

_URGENT = frozenset({"xid", "gpu_lost"})
_HURRIES_EVERY_US = 500_000

_LOOKS_AFTER = 2
"""Looks after something happened: what begins to grow at the first has grown by the second."""

_REMEMBERED_US = round(WINDOW_S * SECOND_US)

_NEVER_STILL = frozenset(
    {
        "utilization_percent",
        "memory_utilization_percent",
        "temperature_c",
        "memory_temperature_c",
        "power_mw",
        "energy_mj",
        "fan_percent",
        "pcie_rx_bytes_per_s",
        "pcie_tx_bytes_per_s",
        "violation_power_ns",
        "violation_thermal_ns",
        "violation_sync_boost_ns",
        "violation_board_limit_ns",
        "violation_reliability_ns",
        "violation_sw_thermal_ns",
        "violation_hw_thermal_ns",
        "violation_power_brake_ns",
        "missing",
    }
)
"""Readings that change from second to second on a GPU with which nothing happens."""

_still: Callable[[GpuSample], tuple[Any, ...]] = attrgetter(
    *(one.name for one in fields(GpuSample) if one.name not in _NEVER_STILL)
)


class Looks(Enum):
    """When to look."""

    POLLING = "polling"
    EVENT_DRIVEN = "event-driven"


@dataclass(frozen=True, slots=True)
class Told:
    """An incident as it was told at a moment of the run: that it opened, changed or cleared."""

    at_us: int
    incident: Incident


class Watching:
    """One gputui for each node of a run. Use it as a context manager, one at a time.

    nvidia-ml-py knows but one library in a process: while it is open, nobody else can use it.
    ``interval_us`` is gputui's interval, ``nodes`` are those to watch, all of them if not given.
    ``in_turn`` reads what changes seldom no more often than the live sampler does. ``expected``
    are the GPUs that the monitor's config says there are.
    """

    def __init__(
        self,
        run: Run,
        *,
        looks: Looks = Looks.EVENT_DRIVEN,
        interval_us: int = SECOND_US,
        nodes: Iterable[str] | None = None,
        in_turn: bool = False,
        rules_off: frozenset[str] = frozenset(),
        thresholds: Thresholds = DEFAULTS,
        expected: Expected = None,
    ) -> None:
        self.run = run
        self.told: list[Told] = []
        self._looks = looks
        self._interval_us = interval_us
        self._asked: VirtualSampler | None = None
        self._stack = ExitStack()
        self._began_us = run.world.now_us
        names = run.world.nodes if nodes is None else nodes
        self.nodes = {
            name: NodeWatch(
                run.world.nodes[name],
                Assessor(
                    interval_s=interval_us / SECOND_US,
                    rules_off=rules_off,
                    thresholds=thresholds,
                    expected=expected,
                ),
                VirtualSampler(run.world.nodes[name], interval_us, self._select, in_turn=in_turn),
                self._passed_over,
            )
            for name in names
        }

    def __enter__(self) -> Watching:
        """Begin: nvidia-ml-py reads this run's nodes from now on, and each is looked at."""
        self._stack.enter_context(installed(self._answer))
        self.run.world.take_touched()
        for node in self.nodes.values():
            self._look_at(node)
        self._note()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End: nvidia-ml-py is as it was."""
        for node in self.nodes.values():
            node.close()
        self._stack.close()

    @property
    def now_us(self) -> int:
        """The run's time."""
        return self.run.world.now_us

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """The open ones, node by node; on each the worst first."""
        return tuple(one for node in self.nodes.values() for one in node.incidents)

    @property
    def looked(self) -> int:
        """How many readings were taken, of all nodes."""
        return sum(node.looked for node in self.nodes.values())

    def happened(self) -> None:
        """The world was changed from outside: see to it that every node is looked at."""
        self.run.advance(self.now_us)
        self._touch(self.nodes)
        self._hear()

    def until(self, end_us: int) -> None:
        """Let time pass until ``end_us``, watching."""
        world = self.run.world
        while True:
            # What was done to a node from outside, by a command say, is seen at its next look.
            self._touch(world.take_touched())
            look_us = min(map(self._next_look_us, self.nodes.values()))
            step_us = min(look_us, world.next_us(), end_us)
            if self.run.advance(step_us):
                self._touch(world.take_touched())
                self._hear()
                if world.next_us() <= step_us:
                    continue
            due = [one for one in self.nodes.values() if self._next_look_us(one) <= self.now_us]
            if due:
                for node in due:
                    self._look_at(node)
                self._note()
            elif step_us >= end_us:
                return

    def hear_job(self, node: str, event: JobEvent) -> None:
        """A job on a node said something in its log, now."""
        self.nodes[node].hear_job(event)
        self._note()

    # --- when to look ---------------------------------------------------------------------------

    def _touch(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self.nodes:
                self.nodes[name].touch()

    def _next_look_us(self, node: NodeWatch) -> int:
        """The next multiple of the interval, from the start, at which to look at a node."""
        last_us = self._began_us if node.last_us is None else node.last_us
        following_us = self._on_grid(last_us + 1)
        if self._looks is Looks.POLLING or node.is_moving:
            return following_us
        return max(self._due_us(node, last_us), following_us)

    def _due_us(self, node: NodeWatch, last_us: int) -> int:
        """When to look at a node that was last looked at then, if its readings do not change."""
        if node.looks_due:
            return self._on_grid(self.now_us)
        due_us = self._on_grid(node.next_look_us)
        happens_us = min(self.run.world.next_on_us(node.name), node.next_regime_us)
        before_us = self._on_grid(happens_us) - self._interval_us
        if before_us <= last_us:
            before_us = self._on_grid(happens_us)
        return min(due_us, before_us)

    def _on_grid(self, at_us: int) -> int:
        """The first multiple of the interval, from the start, that is not before ``at_us``."""
        if at_us >= NEVER_US:
            return NEVER_US
        intervals = -((self._began_us - at_us) // self._interval_us)
        return self._began_us + intervals * self._interval_us

    # --- looking and hearing --------------------------------------------------------------------

    def _look_at(self, node: NodeWatch) -> None:
        goes_on = self._looks is Looks.EVENT_DRIVEN and node.is_moving and node.last_us is not None
        if goes_on and self._due_us(node, node.last_us or 0) > self.now_us:
            node.look(self.now_us, still=node.still)  # a change of some GPUs is all there is to see
        else:
            node.look(self.now_us)
        node.had_its_turn(self.now_us)

    def _hear(self) -> None:
        for node in self.nodes.values():
            node.hear(self.now_us)
        self._note()

    def _note(self) -> None:
        for node in self.nodes.values():
            self.told += (Told(self.now_us, incident) for incident in node.changes())

    def _passed_over(self, from_us: int, to_us: int) -> range:
        """The moments between two looks at which polling would have looked; only the last ones."""
        since_us = max(from_us + 1, to_us - _REMEMBERED_US)
        return range(self._on_grid(since_us), to_us, self._interval_us)

    def _select(self, sampler: VirtualSampler) -> None:
        self._asked = sampler

    def _answer(self, call: Call) -> Answer:
        if self._asked is None:
            raise RuntimeError("nvidia-ml-py was used by somebody else while a run was watched")
        return self._asked.respond(call)


class NodeWatch:
    """One node as gputui sees it.

    ``passed_over`` knows at which moments between two looks polling would have looked.
    """

    def __init__(
        self,
        node: Node,
        assessor: Assessor,
        sampler: VirtualSampler,
        passed_over: Callable[[int, int], Iterable[int]],
    ) -> None:
        self.looked = 0
        self.last_us: int | None = None
        """When it was last this node's turn."""
        self.looks_due = 0
        """How many more looks to take because something happened."""
        self.snapshot: Snapshot | None = None
        self._node = node
        self._assessor = assessor
        self._sampler = sampler
        self._passed_over = passed_over
        self._looked_us: int | None = None
        self._parser = KernelParser()
        self._lines: list[KernelLine] = []
        self._job_lines: list[JobLine] = []
        self._still: tuple[Any, ...] = ()
        self._stood: dict[int, tuple[Any, ...]] = {}
        self._hurried_us = -_HURRIES_EVERY_US
        self._regime_us: int | None = None
        self._wanted_us: int | None = None
        self.is_moving = False
        """Whether the next look may well see something else than the last one did."""
        self.still: frozenset[int] = frozenset()
        """The GPUs of which the last look saw the same as the one before."""
        node.kernel_log.listen(self._lines.append)
        node.job_log.listen(self._job_lines.append)

    @property
    def name(self) -> str:
        """The node's name."""
        return self._node.name

    @property
    def next_regime_us(self) -> int:
        """When a regime of heat next ends on one of its GPUs, after its last turn."""
        if self._regime_us is None:
            after_us = self.last_us or 0
            ends_us = (gpu.next_regime_us(after_us) for gpu in self._node.gpus)
            self._regime_us = min(ends_us, default=NEVER_US)
        return self._regime_us

    def touch(self) -> None:
        """Something happened to it."""
        self.looks_due = _LOOKS_AFTER
        self._regime_us = self._wanted_us = None

    def had_its_turn(self, at_us: int) -> None:
        """It was looked at, if it was up."""
        self.last_us = at_us
        self.looks_due = max(self.looks_due - 1, 0)
        self._regime_us = self._wanted_us = None

    @property
    def incidents(self) -> tuple[Incident, ...]:
        """The open ones."""
        return self.snapshot.incidents if self.snapshot else ()

    @property
    def next_look_us(self) -> int:
        """When gputui itself wants to look next; ``NEVER_US`` if it has no reason to."""
        if self._wanted_us is None:
            next_s = self._assessor.next_look_s
            self._wanted_us = NEVER_US if next_s is None else round(next_s * SECOND_US)
        return self._wanted_us

    def look(self, at_us: int, still: frozenset[int] = frozenset()) -> None:
        """Take a reading. Those that would have been like the last one were passed over, and so
        are GPUs that are ``still``.

        On a node that is down nothing runs, gputui neither.
        """
        if not self._node.is_up:
            return
        self.looked += 1
        if self._looked_us is not None and self._still:
            passed_over_us = self._passed_over(self._looked_us, at_us)
            self._assessor.unchanged(over_us / SECOND_US for over_us in passed_over_us)
        self._looked_us = at_us
        self.is_moving = False
        read = self._sampler.read(at_us, still)
        before, self._still = self._still, ()
        if isinstance(read, NodeSample):
            self._take(read)
            self.is_moving = bool(before) and self._still != before
        elif read is not None:
            self.snapshot = self._assessor.silent(at_us / SECOND_US, read, self._node.name)
        self.is_moving |= self._sampler.is_waiting

    def _take(self, sample: NodeSample) -> None:
        self.snapshot = self._assessor.sample(sample)
        for line in self._sampler.read_events(sample.time_s):
            event = parse_xid_line(line.text, line.time_s)
            if event is not None:
                self._assessor.hear(event)
        self._still = _what_stays(sample)
        gpus = {gpu.index: _still(gpu) for gpu in sample.gpus}
        self.still = frozenset(index for index in gpus if gpus[index] == self._stood.get(index))
        self._stood = gpus

    def hear(self, at_us: int) -> None:
        """Hear what the kernel has said since; look at once if it is grave."""
        hurry = False
        if self._lines or self._job_lines:
            self.touch()
        for line in self._lines:
            event = self._parser.parse(line.text, line.at_us / SECOND_US)
            if event is not None:
                self._assessor.hear(event)
                hurry |= event.kind in _URGENT
        self._lines.clear()
        for said in self._job_lines:
            for word in _heard(said, self._node.name):
                self._assessor.hear_job(word)
        self._job_lines.clear()
        if hurry and at_us - self._hurried_us >= _HURRIES_EVERY_US:
            self._hurried_us = at_us
            self._sampler.hasten()
            self.look(at_us)

    def hear_job(self, event: JobEvent) -> None:
        """Hear what a job said."""
        self._wanted_us = None
        self._assessor.hear_job(event)

    def changes(self) -> list[Incident]:
        """The incidents that opened, changed or cleared since the last call."""
        changed = self._assessor.changes()
        if changed:
            self._wanted_us = None
            self.snapshot = self._assessor.refreshed()
        return changed

    def close(self) -> None:
        """Let go of the node."""
        self._node.kernel_log.unlisten(self._lines.append)
        self._node.job_log.unlisten(self._job_lines.append)


def _heard(line: JobLine, host: str) -> Iterable[JobEvent]:
    """What a line of a job's log means, as gputui reads it where it knows who writes the log."""
    process = line.process
    origin = Origin(line.job, host=host)
    if process is not None:
        spec = process.spec
        gpus = ((spec.rank, spec.gpu),)
        origin = Origin(line.job, process.pid, spec.rank, spec.gpu, host, gpus)
    heard = JobReader(origin).feed(f"{line.text}\n".encode(), line.at_us / SECOND_US)
    return (one.event for one in heard)


def _what_stays(sample: NodeSample) -> tuple[Any, ...]:
    """What of a reading stays as it is on a node with which nothing happens."""
    return (
        sample.error,
        *map(_still, sample.gpus),
        *((one.pid, one.gpu, one.memory_bytes) for one in sample.processes),
        *((one.state, one.speed_mbps, *one.counters.values()) for one in sample.links),
    )
