"""From events in logs to incidents: the engine and the rules of the monitor, one engine a machine.

Nothing in a log shows that a thing is well again, so an incident that comes back is told as one
with what it was before: who reads a log wants to know what happened to which GPU, how often, from
when to when.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from gputui.incidents import evidence
from gputui.incidents.case import revised
from gputui.incidents.engine import Engine
from gputui.incidents.host_words import BACK
from gputui.incidents.offline import offline_rules
from gputui.incidents.rule import Rule
from gputui.incidents.rules import all_rules
from gputui.logs.job_event import JobEvent
from gputui.logs.kernel import KernelEvent
from gputui.model import Incident, NodeSample
from gputui.scan.repeats import Repeats

_INTERVAL_S = 1.0
_PASS_EVERY_S = 600.0
"""How much of a log's time goes by between two looks at what has been quiet for long enough."""

_MANY_EVENTS = 1000
_EVENTS_A_PASS = 50
"""Of a machine that has told many, so many more are heard at least between two such looks."""

_ENDS = (BACK,)
"""What ends incidents: how they hung together is noted before."""

_LOSSES = ("GpuLost", "DriverNotLoaded")
_BELOW = {
    "PcieErrors": ("GpuLost",),
    "PcieDegraded": ("GpuLost",),
    "DriverNotLoaded": ("GpuLost", "DriverNotLoaded"),
}
_WITHIN_S = 60.0

_MOST_INCIDENTS = 100_000


@dataclass(frozen=True, slots=True)
class Found:
    """An incident of a log: all that is the same of it. ``last_s`` is when it was last told."""

    incident: Incident
    last_s: float


@dataclass(slots=True)
class _Machine:
    """The engine of one machine; its incidents as they were last told, and when each last
    happened, by their ids. The next look at what is quiet is at ``passes_at`` events.
    """

    engine: Engine
    passed_s: float
    heard: int = 0
    passes_at: int = 0
    repeats: Repeats = field(default_factory=Repeats)
    told: dict[str, Incident] = field(default_factory=dict)
    last_s: dict[str, float] = field(default_factory=dict)


class Judge:
    """Hears events and gives incidents. ``left_out`` counts those beyond what is kept."""

    def __init__(self, rules: Iterable[Rule] | None = None) -> None:
        kept = (*all_rules(), *offline_rules()) if rules is None else rules
        self._rules = [rule for rule in kept if rule.is_of_events or rule.on_failed_gpu]
        self._machines: dict[str, _Machine] = {}
        self._jobs: dict[str, str] = {}
        self._incidents = 0
        self.left_out = 0

    def hear(self, event: KernelEvent | JobEvent, host: str) -> None:
        """Take in an event. It may be older than the one before."""
        if isinstance(event, JobEvent):
            host = self._place_of(event, host)
        machine = self._machines.get(host)
        if machine is None:
            machine = self._machines[host] = self._machine(host, event.time_s)
        elif event.time_s - machine.passed_s > _PASS_EVERY_S and machine.heard >= machine.passes_at:
            for repeated in machine.repeats.due(event.time_s):
                machine.engine.log(repeated)
            self._note(machine)
            machine.engine.pass_time(event.time_s)
            machine.passed_s = event.time_s
            if machine.heard >= _MANY_EVENTS:
                machine.passes_at = machine.heard + _EVENTS_A_PASS
        elif not isinstance(event, JobEvent) and event.kind in _ENDS:
            self._note(machine)
        machine.heard += 1
        if isinstance(event, JobEvent):
            machine.engine.job(event)
            return
        for judged in machine.repeats.add(event):
            machine.engine.log(judged)

    def incidents(self) -> list[Found]:
        """All that was found: the gravest first, then the oldest; children follow their parent."""
        found: list[Found] = []
        for machine in self._machines.values():
            for repeated in machine.repeats.rest():
                machine.engine.log(repeated)
            self._note(machine)
            found += _grouped(machine)
        return list(_in_order(found))

    def _place_of(self, event: JobEvent, host: str) -> str:
        """Where a job's words are judged: with the machine's own, if it is clear which that is."""
        place = self._jobs.get(host)
        if place is None:
            known = [name for name in (event.host, host) if name in self._machines]
            if not known and len(self._machines) == 1:
                known = list(self._machines)
            place = self._jobs[host] = known[0] if known else host
        return place

    def _machine(self, host: str, time_s: float) -> _Machine:
        engine = Engine(self._rules, interval_s=_INTERVAL_S)
        engine.meet(NodeSample(host=host, time_s=time_s))
        return _Machine(engine, time_s)

    def _note(self, machine: _Machine) -> None:
        """Keep what changed. One that is over keeps its place under what brought it about."""
        for incident in machine.engine.changes():
            before = machine.told.get(incident.id)
            if before is None:
                if self._incidents >= _MOST_INCIDENTS:
                    self.left_out += 1
                    continue
                self._incidents += 1
            elif incident.cleared_s is not None and (before.parent or before.children):
                incident = revised(incident, parent=before.parent, children=before.children)
            machine.told[incident.id] = incident
        machine.last_s.update(machine.engine.last_noticed_s)


def _grouped(machine: _Machine) -> list[Found]:
    """Incidents of one kind, subject and key as one: when it first was, and how often in all."""
    groups: dict[str, list[Incident]] = {}
    for incident in machine.told.values():
        groups.setdefault(_stem(incident.id), []).append(incident)
    first = {stem: members[0].id for stem, members in groups.items()}
    names = {one.id: first[_stem(one.id)] for one in machine.told.values()}
    merged = _below_the_lost(
        [_merged(members, names, machine.last_s) for members in groups.values()]
    )
    there = {one.incident.id for one in merged}
    children: dict[str, list[str]] = {}
    for one in merged:
        if one.incident.parent in there and one.incident.parent is not None:
            children.setdefault(one.incident.parent, []).append(one.incident.id)
    return [_with_family(one, there, children) for one in merged]


def _with_family(one: Found, there: set[str], children: dict[str, list[str]]) -> Found:
    """An incident with its parent, if that was kept, and with what hangs under it."""
    incident = one.incident
    parent = incident.parent if incident.parent in there else None
    below = tuple(sorted(children.get(incident.id, ())))
    if (parent, below) == (incident.parent, incident.children):
        return one
    return replace(one, incident=revised(incident, parent=parent, children=below))


def _below_the_lost(found: list[Found]) -> list[Found]:
    """What the kernel said of the PCIe bus and of the driver when a GPU was lost belongs to that
    loss. The bus is heard first, when nobody knows yet what is lost; and some of it names no GPU.
    """
    causes = [one.incident for one in found if one.incident.kind in _LOSSES]
    return [_placed(one, causes) for one in found]


def _placed(one: Found, causes: list[Incident]) -> Found:
    incident = one.incident
    kinds = _BELOW.get(incident.kind, ())
    if incident.parent is not None:
        return one
    for other in causes:
        near = abs(other.opened_s - incident.opened_s) <= _WITHIN_S
        is_node = incident.subject.startswith("node:") and not other.subject.startswith("node:")
        is_whose = is_node or incident.subject == other.subject
        is_other = incident.id not in (other.id, other.parent)
        if near and other.kind in kinds and is_whose and is_other:
            return replace(one, incident=revised(incident, parent=other.id))
    return one


def _stem(name: str) -> str:
    """An incident's id without the time when it was opened."""
    return name.rpartition("/")[0]


def _merged(members: list[Incident], names: dict[str, str], last_s: dict[str, float]) -> Found:
    if len(members) == 1:
        (only,) = members
        parent = names.get(only.parent or "")
        alone = only if parent == only.parent else revised(only, parent=parent)
        return Found(alone, last_s.get(only.id, only.opened_s))
    worst = max(members, key=lambda one: (one.severity, one.opened_s))
    last = members[-1]
    pieces: tuple[str, ...] = ()
    for one in members:
        pieces = evidence.bounded(pieces, one.evidence)
    parents = [names.get(one.parent or "") for one in members]
    incident = revised(
        worst,
        id=members[0].id,
        opened_s=min(one.opened_s for one in members),
        cleared_s=last.cleared_s,
        count=sum(one.count for one in members),
        evidence=pieces,
        parent=None if None in parents else parents[0],
    )
    return Found(incident, max(last_s.get(one.id, one.opened_s) for one in members))


def _in_order(found: list[Found]) -> Iterator[Found]:
    found.sort(key=lambda one: (-one.incident.severity, one.incident.opened_s, one.incident.id))
    below: dict[str | None, list[Found]] = {}
    for one in found:
        below.setdefault(one.incident.parent, []).append(one)
    waiting = below.pop(None, [])[::-1]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += below.pop(one.incident.id, [])[::-1]
