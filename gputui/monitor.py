"""The loop that ties a source of readings, the kernel log and the incident engine.

Everything that shows or prints goes through here: the screen, ``--once``, ``--stream``, exports.

    monitor = Monitor(MonitorOptions(interval_s=1.0))
    monitor.launch()                   # the sampler starts at once (before Textual is imported)
    monitor.start(on_snapshot)         # Snapshots arrive on the monitor's own daemon thread
    ...
    monitor.stop()                     # within half a second, also while the driver hangs

``on_snapshot`` is called after every sample, at once after a log line that means something, and
about once a second while readings fail to come, so that ages grow and states turn. It must be
quick, and never touch the screen itself: hand the snapshot over to the screen's own thread.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gputui.model import Snapshot


@dataclass(frozen=True, slots=True)
class MonitorOptions:
    """What to watch, and how often.

    ``source`` is ``local``, ``stream=PATH`` or ``replay=FILE``; ``kernel_log`` is ``auto``,
    ``none`` or a path; ``gpus`` are the indices to show, all when empty; ``record`` is a file that
    receives everything in the capture format.
    """

    source: str = "local"
    interval_s: float = 1.0
    kernel_log: str = "auto"
    gpus: tuple[int, ...] = ()
    record: Path | None = None


class Monitor:
    """Watches one node and tells what it knows, snapshot by snapshot."""

    def __init__(self, options: MonitorOptions) -> None:
        self.options = options

    def launch(self) -> None:
        """Start the source without listening to it yet. Calling it twice does nothing."""
        raise NotImplementedError

    def start(self, on_snapshot: Callable[[Snapshot], None]) -> None:
        """Begin to deliver snapshots from a daemon thread; launches the source if need be."""
        raise NotImplementedError

    def stop(self) -> None:
        """End the thread and the sampler, within half a second. Calling it twice does nothing."""
        raise NotImplementedError
