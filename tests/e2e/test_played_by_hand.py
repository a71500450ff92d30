"""A node that is played by hand (the fixture ``gpu_node``), with real programs on it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

CODE = "from chaos.virtual.by_hand import main; raise SystemExit(main())"


def test_what_a_program_leaves_running_goes_on_while_time_passes(me):
    """It acts at its own moment of the time that the test lets pass."""
    leaves = "(sleep 60; nvidia-smi -i 0 -pl 300) >/dev/null 2>&1 & exit 0"
    requests = (
        {"do": "run", "argv": ["sh", "-c", leaves], "folder": str(me.cwd)},
        {"do": "advance", "for": "5m"},
    )
    done = subprocess.run(
        [sys.executable, "-c", CODE, json.dumps({"gpus": 2})],
        input="".join(f"{json.dumps(request)}\n" for request in requests),
        cwd=me.cwd,
        env=me.env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    replies = [json.loads(line) for line in done.stdout.splitlines()]
    assert [reply.get("error") for reply in replies] == [None] * 3
    capped = [one for one in replies[-1]["records"] if one["event"] == "action"]
    assert [one["action"] for one in capped] == ["set_power_limit"]
    assert capped[0]["t"] == pytest.approx(60, abs=1)
