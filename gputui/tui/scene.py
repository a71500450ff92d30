"""All that a frame is drawn from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gputui.model import GpuState, GpuStatus, Incident, Snapshot
from gputui.sources.playback import PlaybackState
from gputui.tui.glyphs import UNICODE, Glyphs
from gputui.tui.graphs import Graphs
from gputui.tui.history import Values
from gputui.tui.view import View


@dataclass(frozen=True, slots=True)
class Held:
    """That a scene stands still: how long ago it was, and how many incidents are new since.

    ``back_to_s`` is the earliest moment (the source's clock) to which one can step back.
    """

    for_s: float
    new_incidents: int
    back_to_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Scene:
    """What the monitor knows, at what time, and how it is looked at.

    ``now_s`` is the source's clock (Unix time). ``silent_s`` is how long no snapshot has come, and
    more than ``patience_s`` of it makes every reading stale. ``histories`` are utilizations by
    GPU index, oldest first (:mod:`gputui.tui.history`); ``graphs`` are there for pages alone.
    ``playback`` says how a recording is played, where what is shown is one.
    """

    snapshot: Snapshot | None = None
    now_s: float = 0.0
    silent_s: float = 0.0
    patience_s: float = 3.0
    histories: Mapping[int, Values] = field(default_factory=dict)
    graphs: Mapping[int, Graphs] = field(default_factory=dict)
    view: View = field(default_factory=View)
    glyphs: Glyphs = UNICODE
    held: Held | None = None
    playback: PlaybackState | None = None

    @property
    def is_silent(self) -> bool:
        """Whether readings have stopped coming altogether."""
        return self.silent_s > self.patience_s

    def status_now(self, status: GpuStatus) -> GpuStatus:
        """``status`` as of now: what was fine when readings stopped coming is stale by now."""
        if not self.is_silent:
            return status
        age_s = status.age_s + self.silent_s
        if status.state in _GOOD_WHILE_FRESH:
            return replace(
                status, state=GpuState.STALE, since_s=self.now_s - self.silent_s, age_s=age_s
            )
        return replace(status, age_s=age_s)

    def open_incidents(self) -> tuple[Incident, ...]:
        """Incidents that stand on their own: those that hang under another are part of it."""
        if self.snapshot is None:
            return ()
        known = {incident.id for incident in self.snapshot.incidents}
        return tuple(i for i in self.snapshot.incidents if i.parent not in known)


_GOOD_WHILE_FRESH = frozenset({GpuState.OK, GpuState.THROTTLED, GpuState.DEGRADED})
