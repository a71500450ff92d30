"""A game day with real commands: a facilitator's terminal, a player's shell, a journal, a score."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from chaos.format.loader import load
from chaos.journal_file import read_journal
from chaos.judging.score import score
from chaos.verdict import judge

SCENARIO = """\
scenario: hot
why: A blocked airway heats one GPU.
given:
  fleet: {nodes: 1, gpus: 4, model: h100-sxm}
  jobs: [{id: train, gpus: "n0/*"}]
timeline:
  - {at: 10s, thermal: {gpu: n0/3, airflow: 20%}}
expect:
  - {incident: GpuThermalThrottle, gpu: n0/3, within: 5m}
  - {action: set_power_limit, gpu: n0/3, within: 20m}
"""


def wait_until(true, what):
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.05)


@pytest.fixture
def game(terminal, me, tmp_path):
    """A console that has begun a game at twenty times the pace, on a terminal."""
    tmp_path.chmod(0o755)
    (tmp_path / "hot.yaml").write_text(SCENARIO, encoding="utf-8")
    journals = tmp_path / "journals"
    journals.mkdir()
    journals.chmod(0o777)
    words = ("console", str(tmp_path / "hot.yaml"), "--rate", "20")
    opened = terminal(
        me.argv(*words, "--journal", str(journals / "hot.jsonl")), env=me.env, rows=40, columns=120
    )
    opened.journal = journals / "hot.jsonl"
    opened.scenario = tmp_path / "hot.yaml"
    opened.wait_for("space lets the game begin", timeout_s=60)
    yield opened
    if opened.status is None:
        os.kill(opened.pid, signal.SIGHUP)


def test_a_game_is_begun_played_and_scored(game, me):
    """The clock stands until it is let go; deeds and deadlines show; the score is the journal's."""
    game.send(" ")
    game.wait_for("RUNNING")
    game.wait_for("met after .*GpuThermalThrottle")
    capped = me.gpuchaos("enter", "--node", "game", "--", "nvidia-smi", "-i", "3", "-pl", "400")
    assert capped.returncode == 0, capped.stderr
    game.wait_for("set_power_limit n0/3", timeout_s=5)
    game.wait_for("met after .*set_power_limit")
    game.send("q")
    game.wait_for("q again")
    game.send("q")
    screen = game.wait_for(r"score \d+ of 100")
    assert "rule: What is to come counts alike" in screen
    assert game.wait() == 0
    records = read_journal(game.journal).records
    scenario = load(game.scenario)
    again = score(judge(scenario, records), records)
    assert f"score {again.points} of 100" in screen
    assert again.points > 0


def test_a_facilitator_breaks_heals_and_holds_the_clock(game, me):
    """What is typed is done; a mistake is a sentence; while it is held no time passes."""
    game.send(" ")
    game.wait_for("RUNNING")
    game.send("i")
    game.send("xid gpu=n0/1 code=79\r")
    game.wait_for("broken: xid-1")
    game.wait_for("gputui: GpuLost n0 GPU 1")
    game.send("ixidd gpu=1\r")
    game.wait_for("unknown fault 'xidd'. Did you mean 'xid'")
    game.send("hxid-1\r")
    game.wait_for("healed: xid-1")
    game.send(" ")
    game.wait_for("PAUSED")
    held = json.loads(me.gpuchaos("status", "--json").stdout)
    assert held["paused"]
    assert json.loads(me.gpuchaos("status", "--json").stdout)["now_s"] == held["now_s"]
    game.send(" ")
    game.wait_for("RUNNING")
    assert json.loads(me.gpuchaos("status", "--json").stdout)["now_s"] > held["now_s"]
    events = [one.event for one in read_journal(game.journal).records]
    assert {"fault", "heal", "pause", "resume"} <= set(events)


def test_a_killed_console_ends_its_game(game, me):
    """Nothing is left running when the facilitator's terminal is gone."""
    pid = json.loads(me.gpuchaos("status", "--json").stdout)["pid"]
    os.kill(game.pid, signal.SIGKILL)
    wait_until(lambda: not Path(f"/proc/{pid}").exists(), "the game to end")


def test_a_run_without_a_journal_is_no_game(me):
    """The console says how one begins, and a console without a terminal says what to use."""
    refused = me.gpuchaos("console", "thermal-throttling")
    assert refused.returncode == 254
    assert "needs a terminal" in refused.stderr
