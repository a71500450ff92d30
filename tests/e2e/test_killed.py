"""A harness, its nodes' first processes or its runbook are killed, at any moment, by force."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCENARIO = """\
scenario: drill
why: A blocked airway heats one GPU; its power is capped.
given:
  jobs: [{id: train, gpus: "n0/*"}]
timeline:
  - {at: 30s, thermal: {gpu: n0/3, airflow: 20%}}
runbook: {run: ./runbook, args: ["{gpu}"], when: GpuThermalThrottle}
expect:
  - {incident: GpuThermalThrottle, gpu: n0/3, within: 2m}
  - {action: set_power_limit, gpu: n0/3, within: 30m}
allow: [GpuPowerCapped, JobFailed]
"""
RUNBOOK = """\
#!/bin/bash
setsid sleep 1d &
for each in $(seq 40); do nvidia-smi -L >/dev/null; sleep 10; done
nvidia-smi -i $1 -pl 300
"""
TOOK_S = 8.0
"""About how long a run takes."""


def _victims(harness: int, whom: str) -> list[int]:
    """The processes to be killed: the harness, or those below it by what they are."""
    if whom == "harness":
        return [harness]
    word = {"node": "chaos.sandbox.init", "runbook": "./runbook"}[whom]
    return [pid for pid in _below(harness) if word in _text(Path(f"/proc/{pid}/cmdline"))]


def _below(pid: int) -> list[int]:
    children = _text(Path(f"/proc/{pid}/task/{pid}/children")).split()
    return [found for child in children for found in (int(child), *_below(int(child)))]


def _marked(mark: str) -> list[int]:
    paths = Path("/proc").glob("[0-9]*/environ")
    return [int(path.parent.name) for path in paths if mark in _text(path)]


def _check(me: Any, folder: Path, wait_until: Callable[..., None], seed: int) -> None:
    chance = random.Random(seed)
    whom, after_s = chance.choice(("harness", "node", "runbook")), chance.uniform(0.2, TOOK_S)
    journal, mark = folder / f"{seed}.jsonl", f"GT_KILLED={os.getpid()}-{seed}"
    words = me.argv("test", str(folder / "drill.yaml"), "--journal", str(journal))
    name, _, value = mark.partition("=")
    started = subprocess.Popen(
        words,
        cwd=me.cwd,
        env={**me.env, name: value},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    time.sleep(after_s)
    for pid in _victims(started.pid, whom):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    said, _ = started.communicate(timeout=60)
    assert "our own fault" not in said, (seed, whom, after_s, said)
    assert started.returncode in (0, 1, 2, 254, -signal.SIGKILL), (seed, whom, after_s, said)
    wait_until(lambda: not _marked(mark), f"the end of what run {seed} had started")
    text = journal.read_text() if journal.exists() else ""
    for line in text.splitlines(keepends=True):
        assert line.endswith("\n")
        json.loads(line)


@pytest.fixture
def drill(folder: Path) -> Path:
    """A folder with a scenario and its runbook."""
    (folder / "drill.yaml").write_text(SCENARIO, encoding="utf-8")
    (folder / "runbook").write_text(RUNBOOK, encoding="utf-8")
    (folder / "runbook").chmod(0o755)
    return folder


@pytest.mark.parametrize("first", range(0, 20, 5))
def test_killed_runs_leave_nothing_behind(me, drill, wait_until, first):
    """No process, and whole lines of the journal; the next run is as if nothing had been."""
    for seed in range(first, first + 5):
        _check(me, drill, wait_until, seed)
    done = me.gpuchaos("test", str(drill / "drill.yaml"))
    assert done.returncode == 0, done.stdout


@pytest.mark.long
def test_two_hundred_killed_runs_leave_nothing_behind(me, drill, wait_until):
    """The same for more than chance."""
    for seed in range(20, 220):
        _check(me, drill, wait_until, seed)
    done = me.gpuchaos("test", str(drill / "drill.yaml"))
    assert done.returncode == 0, done.stdout


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
