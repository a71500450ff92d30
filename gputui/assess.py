"""From what comes in to what is known: samples and log lines to snapshots.

Pure but for its memory: it reads no clock and no file, so that live, replayed and virtual time give
the same snapshots. :mod:`gputui.monitor` brings it the world.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gputui.incidents.boots import NODE_REBOOTED
from gputui.incidents.early import EarlyEvents
from gputui.incidents.engine import Engine
from gputui.incidents.history import DEFAULTS
from gputui.incidents.inventory import Expected
from gputui.incidents.maintenance import Window
from gputui.incidents.past_runs import PastRuns
from gputui.incidents.roster import Roster, has_readings
from gputui.incidents.rule import Subject
from gputui.incidents.rules import all_rules
from gputui.incidents.states import DOES_NOT_RETURN, state_of
from gputui.incidents.thresholds import Thresholds
from gputui.logs.job_event import JobEvent
from gputui.logs.kernel import KERNEL, KernelEvent
from gputui.logs.twice import Pairs
from gputui.model import GpuSample, GpuState, GpuStatus, Incident, NodeSample, Snapshot
from gputui.silence import Silence
from gputui.state import NodeState

_RECENT_S = 3600.0
_MOST_RECENT = 20

_TELLS_SINCE = {GpuState.LOST: "GpuLost", GpuState.HUNG: "GpuHung"}
"""States that began when an incident did, which may be before they were noticed."""


@dataclass(frozen=True, slots=True)
class _Since:
    """A state and since when it is; whether it was so at the first look, and who knows how long."""

    state: GpuState
    time_s: float
    at_start: bool


class Assessor:
    """What is known of one node.

    ``gpus`` are the indices to show, all of them when empty; ``rules_off`` are kinds of incidents
    that are not wanted; ``maintenance`` are windows in which nobody is to be called; ``expected``
    are the GPUs that there should be.
    """

    def __init__(
        self,
        *,
        interval_s: float,
        gpus: tuple[int, ...] = (),
        rules_off: frozenset[str] = frozenset(),
        thresholds: Thresholds = DEFAULTS,
        maintenance: tuple[Window, ...] = (),
        expected: Expected = None,
    ) -> None:
        rules = [rule for rule in all_rules() if rule.kind not in rules_off]
        self._engine = Engine(
            rules, interval_s=interval_s, thresholds=thresholds, maintenance=maintenance
        )
        self._roster = Roster(expected)
        self._past_runs = PastRuns()
        self._shown = frozenset(gpus)
        self._node: NodeSample | None = None
        self._raw: NodeSample | None = None
        self._met = False
        self._pairs = Pairs()
        self._early = EarlyEvents()
        self._since: dict[int, _Since] = {}
        self._time_s = 0.0
        self._silence: Silence | None = None

    def sample(self, sample: NodeSample) -> Snapshot:
        """A sample came."""
        if sample.error is not None:
            # The GPUs are as they were, and that is old; only the driver can be judged.
            self._engine.failed(sample)
            known = self._node.gpus if self._node else self._roster.recalled
            self._node = replace(sample, gpus=known)
            return self._snapshot(self._node, sample.time_s)
        node = self._roster.identified(sample)
        self._engine.recall(self._past_runs.take_open())
        early = self._early.take()
        if early:
            # Who is who comes first: a line late in the log may name a GPU of an early one.
            for one in early:
                self._roster.learn(one.event)
            node = self._roster.identified(sample)
            self._engine.meet(node)
            for one in early:
                self._hear(one.event, live=one.live)
        self._engine.sample(node)
        self._node, self._raw, self._met = node, sample, True
        return self._snapshot(node, node.time_s)

    def unchanged(self, times_s: Iterable[float]) -> None:
        """Nothing changed at these times, so that nobody looked: for who watches by events.

        What looks back finds samples like the last one; only the last minute and a half matters.
        """
        self._engine.unchanged(times_s)

    def log(self, event: KernelEvent) -> Snapshot | None:
        """The kernel said something. None until the GPUs are known; it is kept for then."""
        return self.refreshed() if self.hear(event) else None

    def hear(self, event: KernelEvent, *, live: bool = True) -> bool:
        """As :meth:`log`, for many at a time; whether it was not merely kept for later.

        One that is not ``live`` is read back: it may be remembered from an earlier run.
        """
        if self._node is None or not self._met:
            self._early.add(event, live=live)
            return False
        self._hear(event, live=live)
        self._time_s = max(self._time_s, event.time_s)
        return True

    def hear_job(self, event: JobEvent) -> None:
        """A job's log said something; :meth:`refreshed` shows what came of it."""
        self._engine.job(event)
        self._time_s = max(self._time_s, event.time_s)

    def silent(self, time_s: float, silence: Silence, host: str = "") -> Snapshot:
        """No sample came for so long that it has to be said."""
        if self._node is None:
            since_s = time_s - silence.waited_s
            self._engine.silent(time_s, silence, NodeSample(host=host, time_s=since_s))
            nothing = NodeSample(host=host, time_s=time_s, error=silence.text)
            return self._snapshot(nothing, time_s, silence)
        self._engine.silent(time_s, silence, self._node)
        return self._snapshot(self._node, time_s, silence)

    def refreshed(self) -> Snapshot | None:
        """The last snapshot with what was heard and acknowledged since; None before the first."""
        if self._node is None:
            return None
        return self._snapshot(self._node, self._time_s, self._silence)

    def acknowledge(self, incident_id: str) -> bool:
        """Somebody has seen an incident."""
        return self._engine.acknowledge(incident_id)

    def snooze(self, incident_id: str, until_s: float) -> bool:
        """Somebody does not want to be called for an incident before a time."""
        return self._engine.snooze(incident_id, until_s)

    @property
    def undecided(self) -> bool:
        """Whether one more sample may open an incident."""
        return self._engine.undecided

    @property
    def next_look_s(self) -> float | None:
        """When a sample is wanted although nothing happens; None for never."""
        return self._engine.next_look_s

    def changes(self) -> list[Incident]:
        """Incidents that changed since the last call."""
        changed = self._engine.changes()
        self._past_runs.note(changed)
        return changed

    def recall(self, state: NodeState, first: NodeSample) -> None:
        """Learn what is remembered of this node; ``first`` is about to be its first sample."""
        self._past_runs = PastRuns(state, first)
        self._roster.recall(self._past_runs.gpus)
        reboots = (one.incident for one in state.open if one.incident.kind == NODE_REBOOTED)
        told_s = max((one.opened_s for one in reboots), default=None)
        self._engine.past.boots.recall(state.boot_id, told_s)
        for incident in (*state.cleared, *(one.incident for one in state.open)):
            self._engine.past.failures.note(incident)

    @property
    def state(self) -> NodeState:
        """What is to be remembered of this node."""
        return self._past_runs.state(self._roster.seen, self._engine.saved)

    def _hear(self, event: KernelEvent, *, live: bool) -> None:
        if self._roster.learn(event) and self._met and self._raw is not None:
            self._name_anew(self._raw)
        if self._past_runs.knows(event, live=live):
            self._engine.past.add_event(event)
            return
        told = self._pairs.partner(event)
        if told is None:
            self._engine.log(event)
        elif event.told_by == KERNEL:
            self._engine.log_again(event, told)

    def _name_anew(self, sample: NodeSample) -> None:
        """The log named somebody: what is known of a GPU without a name is known of that one."""
        node = self._roster.identified(sample)
        if self._node is None or node.gpus == self._node.gpus:
            return
        before = {gpu.index: Subject.of_gpu(gpu).name for gpu in self._node.gpus}
        names: dict[str, Subject] = {}
        for gpu in node.gpus:
            subject = Subject.of_gpu(gpu)
            for name in (before.get(gpu.index), f"gpu:{gpu.bus_id}"):
                if name is not None and name != subject.name:
                    names[name] = subject
        self._engine.rename(names)
        self._engine.meet(node)
        self._node = replace(self._node, gpus=node.gpus)

    # --- the snapshot ---------------------------------------------------------------------------

    def _snapshot(
        self, node: NodeSample, time_s: float, silence: Silence | None = None
    ) -> Snapshot:
        """What is known at ``time_s``; the sample in it keeps the time when it was read."""
        self._time_s, self._silence = time_s, silence
        incidents = tuple(one for one in self._engine.incidents if self._is_shown(one.gpu))
        gpus, statuses = [], []
        for gpu in node.gpus:
            if self._is_shown(gpu.index):
                shown, status = self._gpu(gpu, node, time_s, silence, incidents)
                gpus.append(shown)
                statuses.append(status)
        processes = tuple(one for one in node.processes if self._is_shown(one.gpu))
        return Snapshot(
            sample=replace(node, gpus=tuple(gpus), processes=processes),
            statuses=tuple(statuses),
            incidents=incidents,
            notices=(*self._out_of_range(node), *self._passed_over()),
            silent_s=silence.waited_s if silence else 0.0,
            recent=self._recent(time_s, incidents),
        )

    def _recent(self, time_s: float, still_open: tuple[Incident, ...]) -> tuple[Incident, ...]:
        """What was over within the last hour, here or when this node was watched before."""
        cleared = {one.id: one for one in (*self._past_runs.cleared, *self._engine.cleared)}
        for one in still_open:
            cleared.pop(one.id, None)
        recent = [
            (one.cleared_s, one)
            for one in cleared.values()
            if one.cleared_s is not None
            and time_s - one.cleared_s <= _RECENT_S
            and self._is_shown(one.gpu)
        ]
        recent.sort(key=lambda pair: (-pair[0], pair[1].id))
        return tuple(one for _, one in recent[:_MOST_RECENT])

    def _is_shown(self, index: int | None) -> bool:
        return not self._shown or index is None or index in self._shown

    def _out_of_range(self, node: NodeSample) -> tuple[str, ...]:
        there = {gpu.index for gpu in node.gpus}
        missing = sorted(self._shown - there) if there else []
        if not missing:
            return ()
        which = ", ".join(str(index) for index in missing)
        return (f"GPU {which} is not there: this node has GPUs 0 to {max(there)}.",)

    def _passed_over(self) -> tuple[str, ...]:
        if not self._early.dropped:
            return ()
        return (
            f"{self._early.dropped} lines of the kernel log from before the first reading were "
            "passed over: each repeats others.",
        )

    def _gpu(
        self,
        gpu: GpuSample,
        node: NodeSample,
        time_s: float,
        silence: Silence | None,
        incidents: tuple[Incident, ...],
    ) -> tuple[GpuSample, GpuStatus]:
        """One GPU as it is shown: with its last readings if it has none now, and their age."""
        age_s = 0.0
        state, reason = state_of(gpu, incidents)
        if silence is not None:
            age_s = silence.waited_s
            if silence.gpu == gpu.index:
                state, reason = _worse(state, reason, GpuState.HUNG, DOES_NOT_RETURN)
            else:
                state, reason = _worse(state, reason, GpuState.STALE, silence.text)
        elif node.error is not None:
            state, reason = _worse(state, reason, GpuState.STALE, node.error.split(". ")[0])
        if node.error is not None or not has_readings(gpu):
            last = self._roster.last_readings(gpu)
            if last is not None:
                gpu = replace(last.gpu, index=gpu.index, return_code=gpu.return_code)
                age_s = max(time_s - last.time_s, age_s)
        since = self._state_since(gpu, state, time_s - age_s if silence else time_s, incidents)
        return gpu, GpuStatus(
            gpu.index,
            state,
            since.time_s,
            age_s=age_s,
            reason=reason,
            since_start=since.at_start,
        )

    def _state_since(
        self, gpu: GpuSample, state: GpuState, time_s: float, incidents: tuple[Incident, ...]
    ) -> _Since:
        """Since when a GPU is in its state: as long as the incident says, but not before it had
        readings for the last time. An incident that was reopened began earlier.
        """
        since = self._since.get(gpu.index)
        if since is None or since.state is not state:
            since = self._since[gpu.index] = _Since(state, time_s, at_start=since is None)
        last = self._roster.last_readings(gpu)
        kind = _TELLS_SINCE.get(state)
        for incident in incidents:
            opened_s = incident.opened_s
            if incident.kind != kind or incident.gpu != gpu.index or opened_s >= since.time_s:
                continue
            if last is None or last.time_s <= opened_s:
                since = _Since(state, opened_s, at_start=False)
        return since


def _worse(
    state: GpuState, reason: str, other: GpuState, other_reason: str
) -> tuple[GpuState, str]:
    """The worse of two states, with its reason; states are declared from worst to best."""
    order = list(GpuState)
    if order.index(other) < order.index(state):
        return other, other_reason
    return state, reason
