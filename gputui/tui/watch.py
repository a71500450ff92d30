"""What the screen has heard so far: the newest snapshot, the source's clock, the histories."""

from __future__ import annotations

from dataclasses import fields

from gputui.model import GpuSample, GpuState, Snapshot
from gputui.sources.playback import Playback
from gputui.tui.glyphs import Glyphs
from gputui.tui.graphs import Graphs
from gputui.tui.history import CLOSE_BUCKET_S, History
from gputui.tui.past import Moment, Past
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

    def graphs(self, until_s: float | None) -> Graphs:
        """What its page draws, as it is now or as it was at a time."""
        return Graphs(*(history.until(until_s) for history in self._close))


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
    """Takes snapshots in, gives scenes out. Times are seconds of the monotonic clock.

    A ``playback`` is there where what is heard is a recording: its time stands still when it does,
    and may be turned back.
    """

    def __init__(self, monotonic_s: float, playback: Playback | None = None) -> None:
        self._snapshot: Snapshot | None = None
        self._started_s = monotonic_s
        self._clock = SourceClock(monotonic_s)
        self._histories: dict[int, _GpuHistory] = {}
        self._past = Past()
        self._shown: Moment | None = None
        self._playback = playback

    # ------------------------------------------------------------------ what is heard

    def hear(self, snapshot: Snapshot, monotonic_s: float) -> None:
        """A snapshot arrived."""
        if self._playback is not None and self._is_before(snapshot):
            self._begin_anew(monotonic_s)
        self._snapshot = snapshot
        self._clock.hear(snapshot.sample.time_s, monotonic_s)
        now_s = self._now_s(monotonic_s)
        for gpu, status in zip(snapshot.sample.gpus, snapshot.statuses, strict=False):
            answers = status.state not in _WITHOUT_READINGS and status.age_s <= 0
            history = self._histories.setdefault(gpu.index, _GpuHistory())
            history.add(now_s, gpu if answers else None)
        self._past.add(snapshot, now_s)

    def _is_before(self, snapshot: Snapshot) -> bool:
        return self._snapshot is not None and snapshot.sample.time_s < self._snapshot.sample.time_s

    def _begin_anew(self, monotonic_s: float) -> None:
        """Time was turned back."""
        self._clock = SourceClock(monotonic_s)
        self._histories.clear()
        self._past.clear()
        self._shown = None

    def _now_s(self, monotonic_s: float) -> float:
        """The source's time: of a recording that of its last reading, however fast it goes."""
        if self._playback is not None and self._snapshot is not None:
            return self._snapshot.sample.time_s
        return self._clock.now_s(monotonic_s)

    # ------------------------------------------------------------------ which moment is shown

    @property
    def is_held(self) -> bool:
        """Whether a moment is shown that is not, or will not stay, the newest."""
        return self._shown is not None

    @property
    def back_s(self) -> float:
        """How far the moment that is shown lies before the newest one."""
        return 0.0 if self._shown is None else self._past.span_s[1] - self._shown.now_s

    def hold(self) -> None:
        """Show the newest moment from now on. What is heard meanwhile is not lost."""
        if len(self._past):
            self._shown = self._past.moment(self._past.newest)

    def go_on(self) -> None:
        """Show what is new again."""
        self._shown = None

    def step(self, moments: int) -> bool:
        """Show an earlier moment, or a later one when positive; False if there is none."""
        if not len(self._past):
            return False
        newest = self._past.newest
        before = newest if self._shown is None else self._shown.number
        self._shown = self._past.moment(before + moments)
        return self._shown.number != before

    def leap(self, seconds: float) -> bool:
        """Show the moment that was so much earlier, or later when positive.

        False if that is further than is known; then the first or the last one is shown.
        """
        if not len(self._past):
            return False
        oldest_s, newest_s = self._past.span_s
        wanted_s = (newest_s if self._shown is None else self._shown.now_s) + seconds
        self._shown = self._past.moment(self._past.at(wanted_s))
        return oldest_s <= wanted_s <= newest_s

    # ------------------------------------------------------------------ what is drawn

    def scene(
        self, view: View, glyphs: Glyphs, monotonic_s: float, *, with_graphs: bool = False
    ) -> Scene:
        """All that a frame is drawn from, as of now; ``with_graphs`` for pages that show them."""
        held = None if self._shown is None else self._held(self._shown, monotonic_s)
        until_s = None if self._shown is None else self._shown.now_s
        items = self._histories.items()
        return Scene(
            snapshot=self._snapshot if self._shown is None else self._shown.snapshot,
            now_s=self._now_s(monotonic_s) if until_s is None else until_s,
            silent_s=self._clock.silent_s(monotonic_s) if self._runs else 0.0,
            patience_s=self._clock.patience_s,
            histories={index: history.utilization.until(until_s) for index, history in items},
            graphs={index: history.graphs(until_s) for index, history in items}
            if with_graphs
            else {},
            view=view,
            glyphs=glyphs,
            held=held,
            playback=self._playback.state if self._playback else None,
        )

    @property
    def _runs(self) -> bool:
        """Whether time goes on by itself between two readings."""
        return self._shown is None and (self._playback is None or self._snapshot is None)

    def _held(self, shown: Moment, monotonic_s: float) -> Held:
        """How long ago the moment was, where it stands, and which incidents have come since."""
        known = {incident.id for incident in shown.snapshot.incidents}
        newest = self._snapshot.incidents if self._snapshot else ()
        return Held(
            for_s=max(self._now_s(monotonic_s) - shown.now_s, 0.0),
            new_incidents=sum(incident.id not in known for incident in newest),
            back_to_s=self._past.span_s[0],
        )
