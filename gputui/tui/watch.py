"""What the screen has heard so far: the newest snapshot, the source's clock, the histories."""

from __future__ import annotations

from dataclasses import fields, replace

from gputui.model import GpuSample, GpuState, Snapshot
from gputui.tui.glyphs import UNICODE, Glyphs
from gputui.tui.graphs import Graphs
from gputui.tui.history import CLOSE_BUCKET_S, History
from gputui.tui.scene import Held, Scene
from gputui.tui.source_clock import SourceClock
from gputui.tui.view import View

_WITHOUT_READINGS = frozenset({GpuState.LOST, GpuState.HUNG, GpuState.HIDDEN, GpuState.STALE})


class _GpuHistory:
    """One GPU's past: its utilization for the main screen, and what its own page draws."""

    def __init__(self) -> None:
        self.utilization = History()
        self._close = tuple(History(CLOSE_BUCKET_S) for _ in fields(Graphs))

    def add(self, time_s: float, gpu: GpuSample | None) -> None:
        """Take in the readings of a GPU; None is a gap."""
        values = _graphed(gpu) if gpu is not None else (None,) * len(self._close)
        self.utilization.add(time_s, values[0])
        for history, value in zip(self._close, values, strict=True):
            history.add(time_s, value)

    @property
    def graphs(self) -> Graphs:
        """What its page draws, as it is now."""
        return Graphs(*(history.values for history in self._close))


def _graphed(gpu: GpuSample) -> tuple[float | None, ...]:
    """The readings of a GPU that are drawn, in the order of :class:`Graphs`."""
    used, total, power = gpu.memory_used_bytes, gpu.memory_total_bytes, gpu.power_mw
    return (
        gpu.utilization_percent,
        100 * used / total if used is not None and total else None,
        gpu.temperature_c,
        None if power is None else power / 1000,
    )


class Watch:
    """Takes snapshots in, gives scenes out. Times are seconds of the monotonic clock."""

    def __init__(self, monotonic_s: float) -> None:
        self._snapshot: Snapshot | None = None
        self._clock = SourceClock(monotonic_s)
        self._histories: dict[int, _GpuHistory] = {}
        self._held: Scene | None = None

    def hold(self, monotonic_s: float) -> None:
        """Give the same scene from now on, or no longer. What is heard meanwhile is not lost."""
        if self._held is not None:
            self._held = None
        elif self._snapshot is not None:
            self._held = self.scene(View(), UNICODE, monotonic_s, with_graphs=True)

    def hear(self, snapshot: Snapshot, monotonic_s: float) -> None:
        """A snapshot arrived."""
        self._snapshot = snapshot
        self._clock.hear(snapshot.sample.time_s, monotonic_s)
        now_s = self._clock.now_s(monotonic_s)
        for gpu, status in zip(snapshot.sample.gpus, snapshot.statuses, strict=False):
            answers = status.state not in _WITHOUT_READINGS and status.age_s <= 0
            history = self._histories.setdefault(gpu.index, _GpuHistory())
            history.add(now_s, gpu if answers else None)

    def scene(
        self, view: View, glyphs: Glyphs, monotonic_s: float, *, with_graphs: bool = False
    ) -> Scene:
        """All that a frame is drawn from, as of now; ``with_graphs`` for pages that show them."""
        if self._held is not None:
            return replace(self._held, held=self._since_held(monotonic_s), view=view, glyphs=glyphs)
        items = self._histories.items()
        return Scene(
            snapshot=self._snapshot,
            now_s=self._clock.now_s(monotonic_s),
            silent_s=self._clock.silent_s(monotonic_s),
            patience_s=self._clock.patience_s,
            histories={index: history.utilization.values for index, history in items},
            graphs={index: history.graphs for index, history in items} if with_graphs else {},
            view=view,
            glyphs=glyphs,
        )

    def _since_held(self, monotonic_s: float) -> Held:
        """How long ago the scene was held, and which incidents have come since."""
        if self._held is None or self._held.snapshot is None or self._snapshot is None:
            return Held(0.0, 0)
        known = {incident.id for incident in self._held.snapshot.incidents}
        new = sum(incident.id not in known for incident in self._snapshot.incidents)
        return Held(self._clock.now_s(monotonic_s) - self._held.now_s, new)
