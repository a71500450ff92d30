"""A driver that lets nobody in, on a node of its own, through the library."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BEGIN = "import pynvml; pynvml.nvmlInit(); print(pynvml.nvmlDeviceGetCount())"


def test_who_waits_to_begin_gets_in_when_it_is_healed(fake_node):
    """While the way in is blocked nvmlInit does not return; afterwards it works."""
    node = fake_node("h100-sxm", "--gpus", "2")
    fault = node.inject("nvml", "node=n0", "init=blocks")
    argv = [sys.executable, "-m", "chaos", "enter", "--", sys.executable, "-c", BEGIN]
    with subprocess.Popen(
        argv, cwd=ROOT, env=node.env, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True
    ) as waiting:
        try:
            waiting.wait(3)
            raise AssertionError("nvmlInit returned")
        except subprocess.TimeoutExpired:
            pass
        assert node.gpuchaos("heal", fault).returncode == 0
        told, _ = waiting.communicate(timeout=30)
    assert (waiting.returncode, told) == (0, "2\n")


def test_a_mismatch_of_versions_is_told_by_who_begins(fake_node):
    """One reading of gputui's: NVML's code, and the incident that names the cause."""
    node = fake_node("h100-sxm", "--gpus", "2")
    node.inject("driver", "node=n0", "mismatch=575.51.03")
    told = node.reading()
    assert told["error_code"] == 18
    assert [(one["kind"], one["cause"]) for one in told["incidents"]] == [
        ("DriverMismatch", "versions")
    ]
