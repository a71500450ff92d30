"""Snapshots made by hand, a source that delivers them, and a way to look at a running screen."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from gputui.model import (
    Action,
    GpuSample,
    GpuState,
    GpuStatus,
    Incident,
    NodeSample,
    ProcessSample,
    Severity,
    Snapshot,
)
from gputui.sources.playback import Playback
from gputui.tui.acting import Acting
from gputui.tui.app import MonitorApp
from gputui.tui.glyphs import UNICODE, Glyphs
from gputui.tui.themes import DARK, Theme

NOW_S = 1_764_505_800.0
GIB = 1 << 30


class Make:
    """Builds parts of a snapshot; every field can be given."""

    now_s = NOW_S

    def gpu(self, index: int, **given: Any) -> GpuSample:
        """A busy, healthy GPU."""
        usual: dict[str, Any] = {
            "uuid": f"GPU-{index:08d}",
            "bus_id": f"0000:{0x10 + index:02x}:00",
            "name": "NVIDIA H100 80GB HBM3",
            "utilization_percent": 93,
            "memory_used_bytes": 61 * GIB,
            "memory_total_bytes": 80 * GIB,
            "temperature_c": 67,
            "temperature_slowdown_c": 92,
            "power_mw": 641_000,
            "power_limit_mw": 700_000,
            "sm_clock_mhz": 1980,
            "clock_reasons": 0,
            "pcie_rx_bytes_per_s": 1_200_000_000,
            "pcie_tx_bytes_per_s": 1_000_000_000,
        }
        return GpuSample(index=index, **{**usual, **given})

    def status(self, index: int, state: GpuState = GpuState.OK, **given: Any) -> GpuStatus:
        """A state that began 42 seconds ago."""
        return GpuStatus(index, state, **{"since_s": NOW_S - 42, **given})

    def incident(self, kind: str = "GpuLost", gpu: int | None = 5, **given: Any) -> Incident:
        """A critical incident, 42 seconds old."""
        usual: dict[str, Any] = {
            "id": f"{kind}-{gpu}",
            "subject": f"gpu:GPU-{gpu}",
            "host": "node-a",
            "severity": Severity.CRITICAL,
            "opened_s": NOW_S - 42,
            "cause": "bus",
            "cause_text": "fell off the bus",
            "action": Action.POWER_CYCLE,
            "action_text": "drain the node and power-cycle it",
            "count": 12,
            "evidence": ("NVRM: Xid (PCI:0000:15:00): 79, GPU has fallen off the bus.",),
        }
        return Incident(kind=kind, gpu=gpu, **{**usual, **given})

    def process(self, pid: int, gpu: int = 0, **given: Any) -> ProcessSample:
        """A training process."""
        usual: dict[str, Any] = {
            "user": "alice",
            "memory_bytes": 60 * GIB,
            "sm_percent": 90,
            "cpu_percent": 101.0,
            "host_memory_bytes": 4 * GIB,
            "running_s": 11_100.0,
            "command": "python train.py",
        }
        return ProcessSample(pid=pid, gpu=gpu, **{**usual, **given})

    def snapshot(
        self,
        *,
        gpus: Sequence[GpuSample] | int = 8,
        states: dict[int, GpuStatus] | None = None,
        incidents: Sequence[Incident] = (),
        processes: Sequence[ProcessSample] = (),
        notices: Sequence[str] = (),
        time_s: float = NOW_S,
        error: str | None = None,
    ) -> Snapshot:
        """A node with healthy GPUs but for the ``states`` given."""
        samples = [self.gpu(i) for i in range(gpus)] if isinstance(gpus, int) else gpus
        known = states or {}
        return Snapshot(
            NodeSample(
                host="node-a",
                time_s=time_s,
                driver="570.124.06",
                cuda="12.8",
                gpu_count=len(samples),
                gpus=tuple(samples),
                processes=tuple(processes),
                error=error,
            ),
            tuple(known.get(gpu.index, self.status(gpu.index)) for gpu in samples),
            tuple(incidents),
            tuple(notices),
        )

    def around(self, snapshot: Snapshot, **given: Any) -> Snapshot:
        """The same with host, links or connections."""
        return replace(snapshot, sample=replace(snapshot.sample, **given))

    def trouble(self, **given: Any) -> Snapshot:
        """Eight GPUs: one is lost, one is throttled, both with an incident; processes on all."""
        hot = self.gpu(3, temperature_c=89, sm_clock_mhz=1230, clock_reasons=0x40)
        gpus = [hot if i == 3 else self.gpu(i) for i in range(8)]
        usual: dict[str, Any] = {
            "gpus": gpus,
            "states": {
                3: self.status(3, GpuState.THROTTLED),
                5: self.status(5, GpuState.LOST, age_s=42.0, reason="no answer on the bus"),
            },
            "incidents": [
                self.incident(),
                self.incident(
                    "GpuThermalThrottle",
                    3,
                    severity=Severity.WARNING,
                    cause="heat-sink",
                    cause_text="heat sink: only this GPU is hot",
                    action=Action.CHECK_COOLING,
                    action_text="cap its power",
                    count=1,
                ),
            ],
            "processes": [self.process(4001 + i, i, memory_bytes=(60 - i) * GIB) for i in range(8)],
        }
        return self.snapshot(**{**usual, **given})


@pytest.fixture(scope="session")
def make() -> Make:
    """The builder of snapshots."""
    return Make()


@dataclass
class HandFed:
    """A source whose snapshots are given by the test."""

    on_snapshot: Callable[[Snapshot], None] | None = None
    stopped: bool = False
    acknowledged: list[str] = field(default_factory=list)
    snoozed: list[tuple[str, float]] = field(default_factory=list)

    def start(self, on_snapshot: Callable[[Snapshot], None]) -> None:
        self.on_snapshot = on_snapshot

    def stop(self) -> None:
        self.stopped = True

    def acknowledge(self, incident_id: str) -> bool:
        self.acknowledged.append(incident_id)
        return True

    def snooze(self, incident_id: str, for_s: float) -> bool:
        self.snoozed.append((incident_id, for_s))
        return True

    def feed(self, snapshot: Snapshot) -> None:
        """Deliver a snapshot as the monitor's thread would."""
        assert self.on_snapshot is not None
        self.on_snapshot(snapshot)


class Screenful:
    """The app under test with its source."""

    def __init__(
        self,
        theme: Theme = DARK,
        glyphs: Glyphs = UNICODE,
        acting: Acting | None = None,
        playback: Playback | None = None,
    ) -> None:
        self.source = HandFed()
        self.app = MonitorApp(self.source, theme, glyphs, acting=acting, playback=playback)

    def text(self) -> str:
        """What the screen on top shows."""
        return "\n".join(line.text for line in self.app.screen.canvas.lines)

    def line(self, part: str) -> str:
        """The first line that contains ``part``."""
        return next((line for line in self.text().splitlines() if part in line), "")


@pytest.fixture
def screenful() -> type[Screenful]:
    """Makes an app with a hand-fed source."""
    return Screenful


@pytest.fixture(scope="session")
def changed() -> Callable[..., Any]:
    """``dataclasses.replace``, for making the next snapshot of one."""
    return replace


PROGRAM = '''
"""The screen on snapshots from a file."""
import pickle, sys, threading, time
from pathlib import Path
from gputui.tui.run import run

snapshots = pickle.loads(Path(sys.argv[1]).read_bytes())
stuck = "stuck" in sys.argv
theme = next((a[8:] for a in sys.argv if a.startswith("--theme=")), None)

class Source:
    def start(self, on_snapshot):
        threading.Thread(target=self.deliver, args=(on_snapshot,), daemon=not stuck).start()

    def deliver(self, on_snapshot):
        for snapshot in snapshots:
            on_snapshot(snapshot)
            time.sleep(0.05)
        while stuck:
            time.sleep(1)

    def stop(self):
        while stuck:
            time.sleep(1)

    def acknowledge(self, incident_id):
        return False

    def snooze(self, incident_id, for_s):
        return False

sys.exit(run(Source(), theme=theme))
'''


@pytest.fixture
def screen_program(tmp_path: Path) -> Callable[..., list[str]]:
    """The command that shows given snapshots."""

    def command(*snapshots: Any, options: tuple[str, ...] = ()) -> list[str]:
        program, data = (
            tmp_path / "program.py",
            tmp_path / f"{len(list(tmp_path.iterdir()))}.pickle",
        )
        program.write_text(PROGRAM)
        data.write_bytes(pickle.dumps(snapshots))
        return [sys.executable, str(program), str(data), *options]

    return command
