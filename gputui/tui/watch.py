"""What the screen has heard so far: the newest snapshot, the source's clock, the histories."""

from __future__ import annotations

from gputui.model import GpuState, Snapshot
from gputui.tui.glyphs import Glyphs
from gputui.tui.history import History
from gputui.tui.scene import Scene
from gputui.tui.source_clock import SourceClock
from gputui.tui.view import View

_WITHOUT_READINGS = frozenset({GpuState.LOST, GpuState.HUNG, GpuState.HIDDEN, GpuState.STALE})


class Watch:
    """Takes snapshots in, gives scenes out. Times are seconds of the monotonic clock."""

    def __init__(self, monotonic_s: float) -> None:
        self._snapshot: Snapshot | None = None
        self._clock = SourceClock(monotonic_s)
        self._histories: dict[int, History] = {}

    def hear(self, snapshot: Snapshot, monotonic_s: float) -> None:
        """A snapshot arrived."""
        self._snapshot = snapshot
        self._clock.hear(snapshot.sample.time_s, monotonic_s)
        now_s = self._clock.now_s(monotonic_s)
        for gpu, status in zip(snapshot.sample.gpus, snapshot.statuses, strict=False):
            answers = status.state not in _WITHOUT_READINGS and status.age_s <= 0
            history = self._histories.setdefault(gpu.index, History())
            history.add(now_s, gpu.utilization_percent if answers else None)

    def scene(self, view: View, glyphs: Glyphs, monotonic_s: float) -> Scene:
        """All that a frame is drawn from, as of now."""
        return Scene(
            snapshot=self._snapshot,
            now_s=self._clock.now_s(monotonic_s),
            silent_s=self._clock.silent_s(monotonic_s),
            patience_s=self._clock.patience_s,
            histories={index: history.values for index, history in self._histories.items()},
            view=view,
            glyphs=glyphs,
        )
