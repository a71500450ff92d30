"""A game: a scenario that people play, noted, judged and scored."""

import json

import pytest

from chaos.errors import UsageError
from chaos.fleet import build_world
from chaos.format.loader import load
from chaos.journal import Journal
from chaos.journal_file import read_journal
from chaos.judging.score import HINT_POINTS, score
from chaos.real_time.game import Game
from chaos.verdict import Verdict, judge
from fakes.actions import Action, Effect
from fakes.clock import SECOND_US

SCENARIO = """\
scenario: game
why: A blocked airway heats one GPU.
given:
  jobs: [{id: train, gpus: "n0/*"}]
timeline:
  - {id: block, at: 30s, thermal: {gpu: n0/3, airflow: 20%}}
runbook: {run: ./cap.sh, when: GpuThermalThrottle}
expect:
  - {incident: GpuThermalThrottle, gpu: n0/3, within: 4m}
  - {action: set_power_limit, gpu: n0/3, within: 100s}
  - {never: {action: reboot}}
"""


class Table:
    """A game and its players, on a clock that is set by hand."""

    def __init__(self, folder, *, rate=1.0):
        (folder / "cap.sh").write_text("#!/bin/sh\n", encoding="utf-8")
        (folder / "cap.sh").chmod(0o755)
        path = folder / "game.yaml"
        path.write_text(SCENARIO, encoding="utf-8")
        scenario = load(path)
        self.world = build_world(scenario.given, seed=scenario.seed)
        self.path = folder / "journal.jsonl"
        self._out = self.path.open("w", encoding="utf-8")
        self.game = Game(scenario, self.world, Journal(self._out, in_order=True), rate)

    def at(self, seconds):
        """Let time pass as the live loop does, in small steps."""
        until_us = round(seconds * SECOND_US)
        while self.world.now_us < until_us:
            self.game.advance(min(self.world.now_us + SECOND_US // 2, until_us))
        return self

    def act(self, effect):
        """A player does something to GPU 3."""
        action = Action(self.world.now_us, effect, "n0", 3)
        self.world.nodes["n0"].actions.note(action)


@pytest.fixture
def table(tmp_path):
    return Table(tmp_path)


def test_what_comes_within_half_of_its_time_counts_in_full(table):
    """Two expectations of what is to come are worth fifty points each."""
    with table.game.played():
        table.at(60).act(Effect.SET_POWER_LIMIT)
        table.at(100)
    assert table.game.result.verdict is Verdict.PASS
    assert table.game.score.points == 100


def test_points_fall_to_half_at_the_deadline(table):
    """At three quarters of the time three quarters of the points are left."""
    with table.game.played():
        table.at(30 + 75).act(Effect.SET_POWER_LIMIT)
        table.at(120)
    assert [round(row.points, 1) for row in table.game.score.rows] == [50.0, 37.5, 0.0]


def test_what_is_too_late_brings_nothing(table):
    """A deed after its deadline is none."""
    with table.game.played():
        table.at(30 + 101).act(Effect.SET_POWER_LIMIT)
        table.at(140)
    assert table.game.result.verdict is Verdict.FAIL
    assert table.game.score.points == 50


def test_what_must_not_happen_costs_as_much_as_one_deed_brings(table):
    """Whoever reboots loses what noticing brought."""
    with table.game.played():
        table.at(100).act(Effect.REBOOT)
        table.at(140)
    assert [row.points for row in table.game.score.rows] == [50.0, 0.0, -50.0]
    assert table.game.score.points == 0


def test_a_hint_names_what_is_open_and_costs_points(table):
    """Each open expectation is told once, in order; when none is left there is no hint."""
    with table.game.played():
        assert "GpuThermalThrottle" in table.game.hint()
        assert "set_power_limit" in table.game.hint()
        with pytest.raises(UsageError, match="no hint left"):
            table.game.hint()
        table.at(60).act(Effect.SET_POWER_LIMIT)
        table.at(100)
    assert table.game.score.points == 100 - 2 * HINT_POINTS


def test_the_score_can_be_counted_again_from_the_journal(table):
    """Scenario and journal are all that it takes, hints and penalties included."""
    with table.game.played():
        table.game.hint()
        table.at(95).act(Effect.SET_POWER_LIMIT)
        table.at(100).act(Effect.REBOOT)
        table.at(140)
    records = read_journal(table.path).records
    again = score(judge(table.game.scenario, records), records)
    assert again == table.game.score
    assert 0 < again.points < 100 or again.rows


def test_what_is_decided_stays_so(table):
    """After the facilitator has called it, nobody gains by acting."""
    with table.game.played():
        table.at(60)
        table.game.end()
        table.act(Effect.SET_POWER_LIMIT)
        table.at(100)
    assert table.game.score.points == round(table.game.score.rows[0].points)
    assert [one.outcome.ok for one in table.game.result.judged][1] is False


def test_progress_tells_what_is_left_and_what_was_done(table):
    """What came and what is to come, each deadline, and the journal's lines after a number."""
    with table.game.played():
        table.at(20)
        before = table.game.progress(0)
        table.at(60).act(Effect.SET_POWER_LIMIT)
        after = table.game.progress(before["records"][-1]["number"])
    assert [one["came"] for one in before["timeline"]] == [False]
    assert [one["came"] for one in after["timeline"]] == [True]
    assert after["timeline"][0]["text"] == "thermal gpu=n0/3 airflow=20%"
    deed = after["expectations"][1]
    assert (deed["ok"], deed["measured_s"], deed["deadline_s"]) == (True, 30.0, 130.0)
    assert {"action", "fault"} <= {one["event"] for one in after["records"]}
    assert all(one["number"] > before["records"][-1]["number"] for one in after["records"])
    json.dumps(after)


def test_what_a_facilitator_breaks_is_no_false_page(table):
    """Faults by hand are not in the scenario; nobody is blamed for the incidents they bring."""
    from chaos.fault import parse_fault

    with table.game.played():
        table.at(10)
        table.game.run.inject(parse_fault("xid", {"gpu": "n0/5", "code": "79"}))
        table.at(60).act(Effect.SET_POWER_LIMIT)
        table.at(120)
    assert any("GpuLost" in line for line in table.path.read_text().splitlines())
    assert table.game.result.false_pages == ()
    assert table.game.result.verdict is Verdict.PASS


def test_at_ten_times_the_pace_the_same_is_seen(tmp_path):
    """It looks less often in the run's time, and still tells what opened."""
    table = Table(tmp_path, rate=10.0)
    with table.game.played():
        table.at(60).act(Effect.SET_POWER_LIMIT)
        table.at(150)
    assert table.game.score.points == 100
