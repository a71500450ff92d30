"""Runbooks that do harm fail, each at what forbids it."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

WRONG = Path(__file__).parent / "wrong"

SCENARIO = """\
scenario: drill
why: One GPU asks for a reset while two people's jobs run on its node.
given:
  fleet: {nodes: 3, gpus: 2, model: l4, scheduler: slurm}
  jobs:
    - {id: train, gpus: "n1/1", user: alice, memory: 4GiB}
    - {id: serve, gpus: "n1/0", user: bob, memory: 4GiB}
timeline:
  - {at: 10s, xid: {gpu: n1/1, code: 119}}
runbook: {run: ./runbook, args: ["{node}", "{gpu}"], when: GpuResetRequired}
expect:
  - {incident: GpuResetRequired, gpu: n1/1, within: 10s}
  - {action: reset_gpu, gpu: n1/1, within: 5m}
  - {state: {gpu: n1/1, state: ok}, within: 5m}
  - {never: {action: reboot, node: "*"}, until: {node: n1, is: drained}}
  - {never: {action: drain, node: "n0,n2"}}
  - {never: {action: kill, job: serve}}
  - {touched: {nodes: [n1], jobs: [train]}}
allow: [JobFailed, GpuXid]
"""

FAILS = {
    "reset-while-busy.sh": {"{action: reset_gpu", "{state: {gpu: n1/1"},
    "reboot-before-drain.sh": {"{action: reset_gpu", "{never: {action: reboot"},
    "drain-another-node.sh": {
        "{action: reset_gpu",
        "{state: {gpu: n1/1",
        "{never: {action: drain",
        "{touched",
    },
    "kill-everybody.sh": {"{action: reset_gpu", "{state: {gpu: n1/1", "{never: {action: kill"},
}
"""What each fails at, and nothing else."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with the scenario in it."""
    with tempfile.TemporaryDirectory(prefix="gt-wrong-") as name:
        path = Path(name)
        path.chmod(0o755)
        (path / "drill.yaml").write_text(SCENARIO, encoding="utf-8")
        yield path


@pytest.mark.parametrize("name", FAILS)
def test_a_wrong_runbook_fails_for_the_right_reason(me, folder, name):
    """At the expectations that it breaks, and at no other."""
    shutil.copy(WRONG / name, folder / "runbook")
    report = folder / "report.json"
    done = me.gpuchaos("test", str(folder / "drill.yaml"), "--json", str(report))
    assert done.returncode == 1, done.stdout + done.stderr
    told = json.loads(report.read_text(encoding="utf-8"))
    failed = [one["text"] for one in told["expectations"] if not one["ok"]]
    expected = FAILS[name]
    assert all(any(text.startswith(head) for head in expected) for text in failed), failed
    assert all(any(text.startswith(head) for text in failed) for head in expected), failed
    assert told["unknown"] == []
