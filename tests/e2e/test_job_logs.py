"""What the jobs of a fake node print, and what gputui on it makes of that."""

from __future__ import annotations

import json

STREAM = """
import json, signal, subprocess, sys
signal.alarm(60)
stream = subprocess.Popen(
    [sys.executable, "-m", "gputui", "--stream"], stdout=subprocess.PIPE, text=True
)
seen = {}
for line in stream.stdout:
    print(line, end="", flush=True)
    told = json.loads(line).get("incident")
    if told:
        seen[told["kind"]] = told
    if {"JobFailed", "GpuLost"} <= seen.keys():
        if seen["JobFailed"]["parent"] == seen["GpuLost"]["id"]:
            break
stream.kill()
"""


def test_a_job_says_what_a_lost_gpu_does_to_it(who):
    """In the file that its processes write to; what it says hangs under the lost GPU."""
    who.start_node()
    stream = who.start("enter", "--", who.python, "-c", STREAM)
    assert stream.stdout is not None
    records = [json.loads(stream.stdout.readline()) for _ in range(2)]
    assert who.gpuchaos("inject", "lost", "gpu=1").returncode == 0
    records += [json.loads(line) for line in stream.stdout]
    said = [one for one in records if one["event"] == "log" and one["source"] == "1001"]
    assert "unspecified launch failure" in said[0]["text"]
    incidents = {one["incident"]["kind"]: one["incident"] for one in records if "incident" in one}
    assert incidents["JobFailed"]["subject"] == "job:1001"
    assert incidents["JobFailed"]["parent"] == incidents["GpuLost"]["id"]
