"""Campaigns: what varies, drawn by a seed, and the smallest run that fails."""

from __future__ import annotations

import pytest

from chaos.cli import main
from chaos.fault_parts.random_faults import draw_faults, scenario_text
from chaos.format.loader import load
from chaos.format.rewriting import rewritten
from chaos.format.variation import Range, draw, varied

BURST = """\
scenario: drill
why: However often it is said, it is one page.   # a comment that stays
seed: 3
given:
  fleet: {nodes: 1, gpus: 2, model: l4}
timeline:
  - {id: burst, at: 5s, xid: {gpu: "n0/1", code: 13, times: 3, every: 1s}}
  - {id: other, at: 9s, xid: {gpu: n0/0, code: 31}}
expect:
  - {incident: GpuXid, gpu: n0/1, within: 30s}
vary: {burst.xid.gpu: any, burst.xid.times: 1..40, other.times: [1, 2], burst.at: 1s..10s}
"""


@pytest.fixture
def scenario(scenario_file):
    return load(scenario_file(BURST))


def test_the_same_seed_draws_the_same(scenario):
    """By the name of what varies: one draw does not depend on the others."""
    assert draw(scenario, 5) == draw(scenario, 5)
    assert len({tuple(draw(scenario, seed).items()) for seed in range(20)}) > 10
    drawn = draw(scenario, 5)
    assert set(drawn) == {"burst.gpu", "burst.times", "other.times", "burst.at"}


def test_every_draw_is_within_what_may_vary(scenario):
    """A GPU there is, a count in the range, one of the list, a moment in between."""
    for seed in range(50):
        drawn = draw(scenario, seed)
        assert drawn["burst.gpu"] in ("n0/0", "n0/1")
        assert 1 <= int(drawn["burst.times"]) <= 40
        assert drawn["other.times"] in ("1", "2")
        entry = varied(scenario, drawn).timeline[0]
        assert 1_000_000 <= entry.at_us <= 10_000_000


def test_a_range_has_both_of_its_ends():
    """Whole numbers one by one, others in a thousand parts."""
    from chaos.format.values import Count, Duration, Percent

    assert list(Range(Count, 1, 4)) == ["1", "2", "3", "4"]
    assert (Range(Percent, 10, 30)[0], Range(Percent, 10, 30)[-1]) == ("10%", "30%")
    assert len(Range(Duration, 0, 60_000_000)) == 1001
    assert list(Range(Percent, 10, 10)) == ["10%"]


def test_another_seed_draws_anew_and_the_file_s_own_does_not(scenario):
    """As it is written, a scenario runs as it is written."""
    assert scenario.seeded(None) is scenario
    assert scenario.seeded(9).drawn == draw(scenario, 9)
    assert scenario.seeded(9).reseeded


def test_what_was_drawn_is_written_into_the_file(scenario, tmp_path):
    """Quoted or not, there or left out; all else stays, and it reads as what was drawn."""
    drawn = {"burst.gpu": "n0/0", "burst.times": "7", "burst.at": "2500ms", "other.times": "2"}
    text = rewritten(scenario.path, drawn)
    (tmp_path / "again").mkdir()
    path = tmp_path / "again/drill.yaml"
    path.write_text(text, encoding="utf-8")
    assert "# a comment that stays" in text
    wanted = [(entry.at_us, entry.what) for entry in varied(scenario, drawn).timeline]
    assert [(entry.at_us, entry.what) for entry in load(path).timeline] == wanted


def test_a_campaign_finds_what_fails_and_makes_it_small(scenario, tmp_path, capsys):
    """The expectation is of one GPU alone; the smallest has the other one, and all else least."""
    assert main(["campaign", str(scenario.path), "--runs", "30"]) == 1
    said = capsys.readouterr().out
    assert "NOT MET {incident: GpuXid, gpu: n0/1, within: 30s}" in said
    text = said.partition("fails like it:\n\n")[2]
    assert "{id: burst, at: 1s, xid: {gpu: n0/0, code: 13, times: 1, every: 1s}}" in text
    (tmp_path / "small").mkdir()
    path = tmp_path / "small/drill.yaml"
    path.write_text(text, encoding="utf-8")
    assert main(["test", str(path)]) == 1
    capsys.readouterr()
    assert main(["campaign", str(scenario.path), "--runs", "30"]) == 1
    assert capsys.readouterr().out.partition("fails like it:")[2].strip() == text.strip()


def test_a_campaign_in_which_nothing_fails_says_so(scenario_file, capsys):
    """With the seeds that were run."""
    path = scenario_file(BURST.replace("gpu: n0/1, within", "within"))
    assert main(["campaign", str(path), "--runs", "3", "--seed", "7"]) == 0
    assert capsys.readouterr().out == "3 runs, seeds 7 to 9: none failed.\n"


def test_a_scenario_that_varies_nothing_is_a_mistake(scenario_file, capsys):
    """There is nothing to draw."""
    path = scenario_file(BURST.partition("vary:")[0])
    assert main(["campaign", str(path)]) == 254
    assert "it varies nothing" in capsys.readouterr().err


@pytest.mark.parametrize("seed", range(30))
def test_random_faults_make_scenarios_that_read(seed, tmp_path):
    """Whatever is drawn, the loader takes it."""
    path = tmp_path / "campaign.yaml"
    drawn = draw_faults(seed)
    assert drawn == draw_faults(seed)
    path.write_text(scenario_text("campaign", drawn, seed, None), encoding="utf-8")
    assert len(load(path).timeline) == len(drawn)


def test_random_faults_without_a_runbook_disturb_nobody(capsys):
    """Nobody acts, so nothing can be acted upon."""
    assert main(["campaign", "--runs", "2", "--seed", "4"]) == 0
    assert "none failed" in capsys.readouterr().out
