"""Many scenarios at a time: side by side, in parts, each with its journal."""

from __future__ import annotations

import pytest

from chaos.cli import main

SCENARIO = """\
scenario: {name}
why: A burst of Xids is one incident.
given: {{fleet: {{gpus: 2, model: l4}}}}
timeline:
  - {{at: 5s, xid: {{gpu: n0/1, code: 13, times: 2, every: 1s}}}}
expect:
  - {{incident: {kind}, gpu: n0/1, within: 10s}}
"""


@pytest.fixture
def folder(tmp_path):
    """Three scenarios, of which the second fails."""
    for name, kind in (("a", "GpuXid"), ("b", "GpuLost"), ("c", "GpuXid")):
        text = SCENARIO.format(name=name, kind=kind)
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def _verdicts(capsys):
    lines = capsys.readouterr().out.splitlines()
    return [tuple(line.split()[:2]) for line in lines if line.startswith(("PASS", "FAIL"))]


def test_side_by_side_they_are_told_in_their_order(folder, capsys):
    """With the journals of all, which say the same as one after another."""
    files = [str(folder / f"{name}.yaml") for name in "abc"]
    journals = []
    for number in ("1", "2"):
        kept = folder / f"journals-{number}"
        kept.mkdir()
        assert main(["test", *files, "-j", number, "--journal", str(kept)]) == 1
        assert _verdicts(capsys) == [("PASS", "a"), ("FAIL", "b"), ("PASS", "c")]
        journals.append([(kept / f"{name}.jsonl").read_text(encoding="utf-8") for name in "abc"])
    assert journals[0] == journals[1]


def test_parts_are_all_of_them_each_once(folder, capsys):
    """Whoever runs every part has run everything."""
    files = [str(folder / f"{name}.yaml") for name in "abc"]
    found = []
    for part in ("1/2", "2/2"):
        main(["test", *files, "--shard", part])
        found.append(_verdicts(capsys))
    assert found == [[("PASS", "a"), ("PASS", "c")], [("FAIL", "b")]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-j", "0"], "-j: a number from 1 to 256, not 0."),
        (["--shard", "3/2"], "--shard: '3/2' is no part, such as 1/4."),
        (["--shard", "half"], "--shard: 'half' is no part, such as 1/4."),
        (["--journal", "nowhere.jsonl"], "each scenario has a journal of its own"),
    ],
)
def test_what_cannot_be_is_said(folder, capsys, words, said):
    """In a sentence, before anything is run."""
    assert main(["test", str(folder / "a.yaml"), str(folder / "c.yaml"), *words]) == 254
    assert said in capsys.readouterr().err


def test_nobody_can_do_what_is_expected_without_a_runbook(scenario_file, capsys):
    """An action in a test needs somebody who acts; at its place."""
    text = SCENARIO.format(name="drill", kind="GpuXid") + "  - {action: reboot, within: 1m}\n"
    path = scenario_file(text)
    assert main(["test", str(path)]) == 254
    assert capsys.readouterr().err == (
        f"{path}:8:5: an action is expected, and there is no runbook: nobody can do it in a test.\n"
    )
    assert main(["check", str(path)]) == 0


def test_another_seed_is_told_with_what_it_drew(scenario_file, capsys):
    """And the command that repeats it has the seed."""
    text = SCENARIO.format(name="drill", kind="GpuLost").replace("{at: 5s", "{id: x, at: 5s")
    path = scenario_file(text + "vary: {x.times: 2..9}\n")
    assert main(["test", str(path), "--seed", "5"]) == 1
    said = capsys.readouterr().out
    assert "drawn by seed 5: x.times = " in said
    assert f"again: gpuchaos test {path} --seed 5" in said
    main(["test", str(path)])
    assert f"again: gpuchaos test {path}\n" in capsys.readouterr().out
