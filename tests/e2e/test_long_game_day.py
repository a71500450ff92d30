"""A game day of ten minutes: a facilitator and three players, each with a program of their own."""

from __future__ import annotations

import json
import re
import sys
import time

import pytest

from chaos.format.loader import load
from chaos.journal_file import read_journal
from chaos.judging.score import score
from chaos.verdict import judge

MINUTES = 10
RATE = 10

SCENARIO = f"""\
scenario: long-day
why: One thing after another goes wrong on a busy server.
given:
  fleet: {{nodes: 1, gpus: 8, model: h100-sxm}}
  jobs: [{{id: train, gpus: "n0/*", load: 95%, memory: 60GiB}}]
timeline:
  - {{at: 30s, thermal: {{gpu: n0/3, airflow: 20%}}}}
  - {{at: 30m, xid: {{gpu: n0/5, code: 31}}}}
expect:
  - {{incident: GpuThermalThrottle, gpu: n0/3, within: 5m}}
  - {{action: set_power_limit, gpu: n0/3, within: 30m}}
  - {{action: reset_gpu, gpu: n0/5, within: {MINUTES * RATE}m}}
"""

QUERY = "temperature.gpu,memory.used,clocks.sm,power.limit"
GPUTUI = re.compile(r"^\s+(\d+) .*?(\d+)/\d+G\s+(\d+)°C.*?\d+/(\d+)W\s+(\d+)\s", re.M)
NVTOP = re.compile(r"GPU (\d+)MHz.*?TEMP +(\d+).*?POW +\d+ / +(\d+) W")
NVTOP_MEMORY = re.compile(r"MEM\[\|*\s*([\d.]+)Gi/")


def seen_by_smi(me):
    """Temperature, memory in GiB, clock and limit of each GPU, by a player's command."""
    words = ("nvidia-smi", f"--query-gpu={QUERY}", "--format=csv,noheader,nounits")
    done = me.gpuchaos("enter", "--node", "game", "--", *words)
    assert done.returncode == 0, done.stderr
    rows = [[float(cell) for cell in line.split(",")] for line in done.stdout.splitlines()]
    return [(row[0], row[1] / 1024, row[2], row[3]) for row in rows]


def seen_by_gputui(screen):
    """The same from gputui's screen."""
    return [
        (float(temperature), float(memory), float(clock), float(limit))
        for _, memory, temperature, limit, clock in GPUTUI.findall(screen)
    ]


def seen_by_nvtop(screen):
    """The same from nvtop's screen, whose GPUs stand side by side."""
    memory = [float(each) for each in NVTOP_MEMORY.findall(screen)]
    rest = NVTOP.findall(screen)
    return [
        (float(temperature), gib, float(clock), float(limit))
        for (clock, temperature, limit), gib in zip(rest, memory, strict=True)
    ]


def agree(one, other):
    """Whether two looks at eight GPUs within a second or two of a steady server say the same."""
    return len(one) == len(other) == 8 and all(
        abs(a[0] - b[0]) <= 2 and abs(a[1] - b[1]) <= 1 and abs(a[2] - b[2]) <= 60 and a[3] == b[3]
        for a, b in zip(one, other, strict=True)
    )


@pytest.mark.long
def test_ten_minutes_of_players_and_a_facilitator(terminal, me, program, tmp_path):
    """All programs agree, a deed shows within a second, and the journal gives the same score."""
    nvtop = program("nvtop", "make clients")
    (tmp_path / "long-day.yaml").write_text(SCENARIO, encoding="utf-8")
    journal = tmp_path / "long-day.jsonl"
    words = ("console", str(tmp_path / "long-day.yaml"), "--rate", str(RATE))
    console = terminal(me.argv(*words, "--journal", str(journal)), env=me.env, rows=40, columns=120)
    console.wait_for("space lets the game begin", timeout_s=60)
    enter = ("enter", "--node", "game", "--")
    gputui = terminal(
        me.argv(*enter, sys.executable, "-m", "gputui"), env=me.env, rows=40, columns=120
    )
    monitor = terminal(me.argv(*enter, nvtop), env=me.env, rows=60, columns=170)
    shell = terminal(me.argv(*enter, "bash", "--norc"), env=me.env, rows=24, columns=100)
    everybody = (console, gputui, monitor, shell)

    def watch(for_s):
        deadline = time.monotonic() + for_s
        while time.monotonic() < deadline:
            for each in everybody:
                each.read(0.05)

    console.send(" ")
    begun = time.monotonic()
    watch(15)
    gputui.wait_for("GpuThermalThrottle")
    rounds = 0
    while time.monotonic() - begun < MINUTES * 60 - 30:
        limit_w = 400 + rounds % 20
        shell.send(f"nvidia-smi -i 3 -pl {limit_w}; echo done $((1000 + {rounds}))\r")
        shell.wait_for(f"done {1000 + rounds}", timeout_s=10)
        console.wait_for(rf"nvidia-smi -i 3 -pl {limit_w}\b", timeout_s=1)
        watch(20)
        for _ in range(5):
            asked = seen_by_smi(me)
            watch(1)
            looks = (seen_by_gputui(gputui.text()), seen_by_nvtop(monitor.text()))
            if all(agree(asked, look) for look in looks):
                break
        else:
            pytest.fail(f"asked {asked}, gputui {looks[0]}, nvtop {looks[1]}")
        rounds += 1
    assert rounds >= MINUTES
    status = json.loads(me.gpuchaos("status", "--json").stdout)
    assert status["now_s"] >= (MINUTES - 1) * 60 * RATE * 0.95
    console.send("q")
    console.wait_for("q again")
    console.send("q")
    screen = console.wait_for(r"score \d+ of 100", timeout_s=30)
    assert console.wait() == 0
    records = read_journal(journal).records
    again = score(judge(load(tmp_path / "long-day.yaml"), records), records)
    assert f"score {again.points} of 100" in screen
    assert again.points > 50
