"""What the monitor is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gputui.incidents.history import DEFAULTS
from gputui.incidents.inventory import Expected
from gputui.incidents.maintenance import Window
from gputui.incidents.thresholds import Thresholds
from gputui.logs.choice import AUTO


@dataclass(frozen=True, slots=True)
class MonitorOptions:
    """What to watch, and how often.

    ``source`` is ``local``, ``ssh:HOST``, ``stream=PATH`` or ``replay=FILE``; ``kernel_log`` is
    ``auto``, ``kmsg``, ``journal``, ``none`` or a path; ``job_logs`` is ``auto``, ``none`` or a
    pattern of paths; ``gpus`` are the indices to show, all when empty; ``record`` is a file that
    receives everything in the capture format. ``expected_gpus``, ``rules_off``, ``thresholds`` and
    ``maintenance`` are as in :class:`gputui.config.Config`; ``notices`` are told beside the
    monitor's own. ``state`` is the folder of the state files, None for remembering nothing.
    ``theme`` and ``allow_actions`` are for the screen.
    """

    source: str = "local"
    interval_s: float = 1.0
    kernel_log: str = AUTO
    job_logs: str = AUTO
    gpus: tuple[int, ...] = ()
    record: Path | None = None
    theme: str | None = None
    allow_actions: bool = False
    expected_gpus: Expected = None
    rules_off: frozenset[str] = frozenset()
    thresholds: Thresholds = DEFAULTS
    maintenance: tuple[Window, ...] = ()
    notices: tuple[str, ...] = ()
    state: Path | None = None
