# ruff: noqa: E501 - a table of mistakes reads best with a row a line

from __future__ import annotations

import pytest

from chaos.errors import BadScenarioError, UsageError
from chaos.fault import described
from chaos.format.loader import load
from chaos.scenario import Heal

GOOD = """\
# yaml-language-server: $schema=../scenario.schema.json
scenario: drill
why: To see.
seed: 7
given:
  fleet: {nodes: 2, gpus: 4, model: h100-sxm, driver: 550.54.15}
  jobs:
    - {id: train, nodes: "n0,n1", load: 50%, memory: 10GiB, user: bob, command: "python3 a.py"}
    - {id: other, gpus: "*/3", memory: 1GiB}
timeline:
  - {id: hot, at: 30s, thermal: {gpu: n1/3, airflow: 20%}}
  - {at: 1m30s, xid: {code: 79, gpu: "*/0", times: 3}}
  - {at: 2h, heal: hot}
runbook: {run: [bash, a.sh], when: GpuLost}
expect:
  - {incident: GpuLost, gpu: n0/0, within: 30s}
  - {never: {action: reboot}}
stop: {after: 3h}
vary: {hot.thermal.gpu: any}
allow: [GpuXid]
"""


def test_a_scenario_reads_as_it_is_written(scenario_file):
    """Every part of a file arrives, typed, in its place."""
    scenario = load(scenario_file(GOOD))

    assert (scenario.name, scenario.why, scenario.seed) == ("drill", "To see.", 7)
    assert scenario.given.fleet.names == ("n0", "n1")
    assert scenario.given.fleet.driver == "550.54.15"
    train = scenario.given.jobs[0]
    assert train.gpus.resolve(scenario.given.inventory) == tuple(
        (f"n{node}", index) for node in range(2) for index in range(4)
    )
    assert (train.load, train.memory_bytes, train.user) == (0.5, 10 << 30, "bob")
    assert [entry.at_us for entry in scenario.timeline] == [30_000_000, 90_000_000, 7_200_000_000]
    assert described(scenario.timeline[0].what) == {"gpu": "n1/3", "airflow": "20%"}
    assert scenario.timeline[2].what == Heal("hot")


def test_what_is_left_out_has_a_usual_value(scenario_file):
    """A fleet is one node of eight, a seed 0, a timeline empty."""
    scenario = load(scenario_file("scenario: drill\nwhy: So.\n"))

    assert (scenario.given.fleet.nodes, scenario.given.fleet.gpus, scenario.seed) == (1, 8, 0)
    assert (scenario.timeline, scenario.given.jobs) == ((), ())


HEAD = "scenario: drill\nwhy: So.\n"
FLEET = HEAD + "given: {fleet: {nodes: 2, gpus: 8, model: h100-sxm}}\n"
WRONG = {
    "empty": ("", "1:1: the file is empty."),
    "only a comment": ("# nothing\n", "1:1: the file is empty."),
    "no mapping": ("- a\n", "1:1: a scenario is a mapping of scenario, why"),
    "not YAML": (HEAD + "given: {a\n", "4:1: not YAML: "),
    "a tab": (HEAD + "given:\n\tfleet: 1\n", "4:1: not YAML: a tab: indent with spaces."),
    "not UTF-8": (b"scenario: drill\nwhy: \xff\n", "2:6: not YAML: not UTF-8 text."),
    "not text": (b"scenario: drill\nwhy: a\x00b\n", "2:7: not YAML: a character that text has not."),
    "a directive": ("%YAML 1.1\n---\n" + HEAD, "1:1: YAML directives (%) are not allowed."),
    "an anchor": (HEAD + "seed: &x 3\n", "3:7: anchors (&) are not allowed"),
    "an alias": (HEAD + "seed: *x\n", "3:7: aliases (*) are not allowed"),
    "a bare star": (HEAD + "allow: [*/3]\n", 'quote a selector that begins with a star: "*/3".'),
    "a tag": (HEAD + "seed: !!int 3\n", "3:7: tags (!) are not allowed."),
    "a merge": (HEAD + "<<: {seed: 3}\n", "3:1: merges (<<) are not allowed"),
    "two documents": (HEAD + "---\na: 1\n", "3:1: a second document"),
    "a key of no word": (HEAD + "? [a]\n: 1\n", "3:3: a key must be one word."),
    "nested deep": (HEAD + "allow: " + "[" * 40 + "]" * 40 + "\n", "nested more than 32 deep."),
    "duplicate key": (HEAD + "seed: 1\nseed: 2\n", "4:1: duplicate key 'seed': it is also on line 3."),
    "duplicate argument": (
        FLEET + "timeline:\n  - {at: 1s, xid: {gpu: 3, code: 79, code: 48}}\n",
        "5:38: duplicate key 'code'",
    ),
    "no name": ("why: So.\n", "1:1: a scenario needs the key 'scenario'."),
    "no why": ("scenario: drill\n", "1:1: a scenario needs the key 'why'."),
    "another name": ("scenario: other\nwhy: So.\n", "1:11: scenario 'other' in a file named drill.yaml"),
    "unknown key": (HEAD + "timelin: []\n", "3:1: unknown key 'timelin' in a scenario. Did you mean 'timeline'?"),
    "seed of letters": (HEAD + "seed: abc\n", "3:7: seed: 'abc' is not a whole number"),
    "unknown fleet key": (HEAD + "given: {fleet: {nods: 2}}\n", "3:17: unknown key 'nods' in fleet. Did you mean 'nodes'?"),
    "unknown model": (
        HEAD + "given: {fleet: {model: h100-smx}}\n",
        "3:24: unknown model 'h100-smx'. Did you mean 'h100-sxm'? Known models: ",
    ),
    "no GPUs": (HEAD + "given: {fleet: {gpus: 0}}\n", "3:23: gpus: '0' is not a whole number from 1"),
    "too many GPUs": (HEAD + "given: {fleet: {gpus: 65}}\n", "3:23: gpus: 65 is more than 64."),
    "job without place": (HEAD + "given: {jobs: [{id: a}]}\n", "3:16: job 'a' needs gpus or nodes, and not both."),
    "job on a missing node": (
        HEAD + "given: {jobs: [{id: a, nodes: n7}]}\n",
        "3:31: there is no node 'n7'; the nodes are n0.",
    ),
    "job's load": (HEAD + "given: {jobs: [{id: a, nodes: n0, load: 95}]}\n", "3:41: load: '95' is not a percentage"),
    "job's memory": (HEAD + "given: {jobs: [{id: a, nodes: n0, memory: 60GB}]}\n", "3:43: memory: '60GB' is not an amount"),
    "jobs that do not fit": (
        HEAD + "given:\n  jobs:\n    - {id: a, nodes: n0, memory: 60GiB}\n    - {id: b, gpus: 3, memory: 60GiB}\n",
        "6:7: n0/3 would hold 120GiB; a GPU of model h100-sxm has ",
    ),
    "the same job twice": (
        HEAD + "given: {jobs: [{id: a, gpus: 0, memory: 1GiB}, {id: a, gpus: 1, memory: 1GiB}]}\n",
        "3:48: a second job 'a'.",
    ),
    "timeline of words": (HEAD + "timeline: soon\n", "3:11: timeline: expected a list, not 'soon'."),
    "entry of words": (HEAD + "timeline: [soon]\n", "3:12: an entry is a mapping"),
    "no fault": (HEAD + "timeline:\n  - {at: 1s}\n", "4:5: an entry needs a fault. Known faults: "),
    "unknown fault": (
        HEAD + "timeline:\n  - {at: 1s, thermall: {gpu: 3}}\n",
        "4:14: unknown fault 'thermall'. Did you mean 'thermal'? Known faults: ",
    ),
    "two faults": (
        HEAD + "timeline:\n  - {at: 1s, lost: {gpu: 3}, xid: {gpu: 3, code: 79}}\n",
        "4:30: 'lost' and 'xid' in one entry: one entry is one fault.",
    ),
    "no time": (HEAD + "timeline:\n  - {lost: {gpu: 3}}\n", "4:5: an entry needs the key 'at'."),
    "time without unit": (HEAD + "timeline:\n  - {at: 30, lost: {gpu: 3}}\n", "4:10: at: '30' is not a duration with its unit"),
    "unknown argument": (
        HEAD + "timeline:\n  - {at: 1s, thermal: {gpu: 3, airflo: 20%}}\n",
        "4:32: 'thermal' has no argument 'airflo'. Did you mean 'airflow'?",
    ),
    "argument of a wrong form": (
        HEAD + "timeline:\n  - {at: 1s, thermal: {gpu: 3, airflow: 20}}\n",
        "4:41: airflow: '20' is not a percentage from 0% to 100%, such as 20%.",
    ),
    "argument of several values": (
        HEAD + "timeline:\n  - {at: 1s, lost: {gpu: [3, 4]}}\n",
        "4:26: gpu: expected one value, not a list.",
    ),
    "argument missing": (HEAD + "timeline:\n  - {at: 1s, lost: {silent: true}}\n", "4:14: 'lost' needs the argument 'gpu'."),
    "selecting argument missing": (HEAD + "timeline:\n  - {at: 1s, xid: {gpu: 3}}\n", "4:14: 'xid' needs the argument 'code'."),
    "a word of a few": (
        HEAD + "timeline:\n  - {at: 1s, lost: {gpu: 3, lookup: unknwn}}\n",
        "4:37: lookup: unknown value 'unknwn'. Did you mean 'unknown'? Known: unknown, lost.",
    ),
    "an Xid of no number": (HEAD + "timeline:\n  - {at: 1s, xid: {gpu: 3, code: 0}}\n", "4:34: code: an Xid is a number"),
    "GPU out of range": (
        FLEET + "timeline:\n  - {at: 1s, lost: {gpu: n1/8}}\n",
        "5:26: gpu: there is no GPU n1/8; n1 has GPUs 0 to 7.",
    ),
    "node out of range": (
        FLEET + "timeline:\n  - {at: 1s, lost: {gpu: n0..n2/1}}\n",
        "5:26: gpu: there is no node 'n2'; the nodes are n0 to n1.",
    ),
    "a node as GPU": (FLEET + "timeline:\n  - {at: 1s, lost: {gpu: n1}}\n", "5:26: gpu: 'n1' is a node; all of its GPUs are n1/*."),
    "unknown job": (
        HEAD + "given: {jobs: [{id: train, nodes: n0}]}\ntimeline:\n  - {at: 1s, memory: {gpu: 3, grow: 1GiB/s, job: trian}}\n",
        "5:50: job: there is no job 'trian'. Did you mean 'train'? Jobs: train.",
    ),
    "second id": (
        HEAD + "timeline:\n  - {id: a, at: 1s, lost: {gpu: 3}}\n  - {id: a, at: 1s, lost: {gpu: 4}}\n",
        "5:10: a second entry with the id 'a'.",
    ),
    "heal of nothing": (
        HEAD + "timeline:\n  - {id: burst, at: 1s, lost: {gpu: 3}}\n  - {at: 2s, heal: bust}\n",
        "5:20: heal: no entry above has the id 'bust'. Did you mean 'burst'?",
    ),
    "expectation of two heads": (
        HEAD + "expect:\n  - {incident: GpuLost, action: reboot}\n",
        "4:25: 'incident' and 'action' in one expectation: each is one of its own.",
    ),
    "runbook of words": (HEAD + "runbook: fix.sh\n", "3:10: runbook is a mapping of run, when, args, on, exit, not 'fix.sh'."),
    "allow of words": (HEAD + "allow: GpuXid\n", "3:8: allow: expected a list"),
}  # fmt: skip


SEVERAL = """\
scenario: other
given:
  fleet: {nodes: 2, gpus: 8}
  jobs:
    - {id: a, gpus: n0/0, load: 95}
    - {id: b, gpus: n5/0}
seed: abc
sede: 3
sede: 4
timeline:
  - {id: x, at: 30, xid: {gpu: n9/0, code: 79}}
  - {at: 1s, thermall: {gpu: 3}}
  - {at: 1s, xid: {gpu: 3, cod: 79, every: 5}}
  - {at: 1s, memory: {gpu: 3, grow: 1GiB, job: a}}
  - {at: 2s, heal: x}
  - {at: 2s, heal: y}
expect: [soon]
"""


def test_one_mistake_does_not_hide_another(scenario_file):
    """Every mistake that stands by itself is told, in the order of the file, and no other."""
    path = scenario_file(SEVERAL)

    with pytest.raises(BadScenarioError) as caught:
        load(path)

    told = [line.removeprefix(f"{path}:") for line in caught.value.told().splitlines()]
    beginnings = (
        "1:1: a scenario needs the key 'why'.",
        "1:11: scenario 'other' in a file named drill.yaml",
        "5:33: load: '95' is not a percentage",
        "6:21: there is no node 'n5'",
        "7:7: seed: 'abc'",
        "8:1: unknown key 'sede'",
        "9:1: duplicate key 'sede': it is also on line 8.",
        "11:17: at: '30' is not a duration",
        "11:32: gpu: there is no node 'n9'",
        "12:14: unknown fault 'thermall'",
        "13:28: 'xid' has no argument 'cod'. Did you mean 'code'?",
        "13:44: every: '5' is not a duration",
        "14:37: grow: '1GiB' is not an amount of memory over time",
        "16:20: heal: no entry above has the id 'y'",
        "17:10: an expectation is a mapping, not 'soon'.",
    )
    assert len(told) == len(beginnings), told
    for line, beginning in zip(told, beginnings, strict=True):
        assert line.startswith(beginning)


def test_a_wrong_fleet_is_told_once(scenario_file):
    """What is selected from a fleet that does not read is not judged."""
    text = HEAD + "given: {fleet: {model: h}, jobs: [{id: a, gpus: n7/0}]}\n"

    with pytest.raises(BadScenarioError) as caught:
        load(scenario_file(text + "timeline: [{at: 1s, lost: {gpu: n9/0}}]\n"))

    assert len(caught.value.errors) == 1


def test_of_very_many_mistakes_the_first_are_told(scenario_file):
    """Twenty lines, and how many more there are."""
    path = scenario_file(HEAD + "allow: []\n" + "".join(f"k{n}: 1\n" for n in range(33)))

    with pytest.raises(BadScenarioError) as caught:
        load(path)

    lines = caught.value.told().splitlines()
    assert len(lines) == 21
    assert lines[-1] == f"{path}: and 13 more."


def test_a_long_word_is_shortened_in_its_message(scenario_file):
    """Much text that is no scenario gets a line, not as much again."""
    path = scenario_file("word " * 20_000)

    with pytest.raises(BadScenarioError) as caught:
        load(path)

    assert "a scenario is a mapping of" in caught.value.told()
    assert len(caught.value.told()) < 300 + len(str(path))


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_told_at_its_place(name, scenario_file):
    """An error is one line: file, line, column, what was found, and what was expected."""
    text, expected = WRONG[name]
    path = scenario_file(text)

    with pytest.raises(BadScenarioError) as caught:
        load(path)

    assert str(caught.value).startswith(f"{path}:")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_dates_octals_and_norway_stay_words(scenario_file):
    """YAML turns no word of a scenario into something else."""
    text = HEAD + "given: {jobs: [{id: no, gpus: 0, user: 2026-11-30, command: 0o17 yes}]}\n"

    job = load(scenario_file(text)).given.jobs[0]

    assert (job.id, job.user, job.command) == ("no", "2026-11-30", "0o17 yes")


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    """A path to nothing names the path and the reason."""
    with pytest.raises(UsageError, match=r"nowhere\.yaml: cannot be read: No such file"):
        load(tmp_path / "nowhere.yaml")


def test_a_timeline_written_by_a_machine_is_refused(scenario_file):
    """Beyond 5,000 entries a burst should be one entry."""
    entries = "".join(f"  - {{at: {n}s, lost: {{gpu: 3}}}}\n" for n in range(5001))

    with pytest.raises(BadScenarioError, match="more than 5000 entries: a burst is one entry"):
        load(scenario_file(HEAD + "timeline:\n" + entries))
