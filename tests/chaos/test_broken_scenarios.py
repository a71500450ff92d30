# ruff: noqa: E501 - a table of mistakes reads best with a row a line
"""Broken scenarios: each is one line, at the right place, whatever is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos.cli import main
from chaos.errors import BadScenarioError, Mistakes
from chaos.format.loader import load
from chaos.format.yaml_tree import Items, Table, Tree, Word, read_tree
from chaos.library import shipped
from gputui.facts.words import kind_table
from gputui.logs.text_facts import text_facts

HEAD = "scenario: drill\nwhy: So.\n"
WORLD = (
    HEAD + "given:\n  fleet: {nodes: 2, gpus: 8, model: h100-sxm, scheduler: slurm}\n"
    "  jobs: [{id: train, nodes: n0}]\n"
    "timeline:\n  - {id: hot, at: 30s, thermal: {gpu: n0/3, airflow: 20%}}\n"
    "  - {id: cool, at: 5m, heal: hot}\n"
)
ALONE = HEAD + "timeline:\n  - {id: hot, at: 30s, thermal: {gpu: n0/3, airflow: 20%}}\n"
EXPECT = WORLD + "expect:\n  - "
RUN = "\nrunbook: {run: [bash, -c, x], when: GpuLost}\n"

BROKEN = {
    # what is expected
    "a cause that the kind never has": (
        EXPECT + "{incident: GpuThermalThrottle, cause: §heatsink, within: 2m}",
        "cause: GpuThermalThrottle has no cause 'heatsink'. Did you mean 'heat-sink'? Its causes: heat-sink, fan,",
    ),
    "an unknown kind": (EXPECT + "{incident: §GpuTermalThrottle}", "unknown kind of incident 'GpuTermalThrottle'. Did you mean 'GpuThermalThrottle'?"),
    "an unknown expectation": (EXPECT + "{§incedent: GpuLost}", "unknown expectation 'incedent'. Did you mean 'incident'?"),
    "an expectation of nothing": (EXPECT + "§{}", "an expectation needs one of action, call,"),
    "an expectation that is a word": (EXPECT + "§GpuLost", "an expectation is a mapping, not 'GpuLost'."),
    "an incident that holds": (EXPECT + "{incident: GpuLost, §hold: 10s}", "'hold' means nothing to 'incident': only a state can hold."),
    "a reach with a deadline": (EXPECT + "{touched: {nodes: [n0]}, §within: 10s}", "'within' means nothing to 'touched': it counts to the end."),
    "a drain of a GPU": (EXPECT + "{action: drain, gpu: §n0/3, within: 1m}", "gpu: 'drain' concerns whole nodes: say 'node:'."),
    "a requeue of a GPU": (EXPECT + "{action: requeue, gpu: §n0/3, within: 1m}", "gpu: 'requeue' concerns jobs: say 'job:'."),
    "a reset of a job": (EXPECT + "{action: reset_gpu, job: §train}", "job: 'reset_gpu' concerns no job: say 'gpu' or 'node:'."),
    "an unknown action": (EXPECT + "{action: §rebot}", "action: unknown value 'rebot'. Did you mean 'reboot'?"),
    "a deadline without its unit": (EXPECT + "{incident: GpuLost, within: §30}", "within: '30' is not a duration with its unit, such as 30s"),
    "a deadline of a unit that is none": (EXPECT + "{incident: GpuLost, within: §2min}", "within: '2min' is not a duration"),
    "an end after nothing": (EXPECT + "{incident: GpuLost, from: §hit, within: 2m}", "from: no entry has the id 'hit'. Did you mean 'hot'?"),
    "a GPU that is not there": (EXPECT + "{incident: GpuLost, gpu: §n0/8}", "gpu: there is no GPU n0/8; n0 has GPUs 0 to 7."),
    "a node that is not there": (EXPECT + "{call: reboot, node: §n2}", "node: there is no node 'n2'; the nodes are n0 to n1."),
    "a job that is not there": (EXPECT + "{action: requeue, job: §trian}", "job: there is no job 'trian'. Did you mean 'train'? Jobs: train."),
    "a job of a log that is not there": (EXPECT + "{log: x, job: §trian}", "job: there is no job 'trian'."),
    "a count of nothing": (EXPECT + "{incident: GpuLost, times: §0}", "times: '0' is not a whole number from 1"),
    "a text that is a list": (EXPECT + "{log: §[a, b]}", "log: expected a text, not a list."),
    "a text that is empty": (EXPECT + '{log: §""}', "log: expected a text, not nothing."),
    "a call by its path": (EXPECT + "{call: §/sbin/reboot -f}", "call: '/sbin/reboot' never matches, as calls have the program's base name: write 'reboot -f'."),
    "a call by its path that is never to be": (EXPECT + "{never: {call: §/sbin/reboot}}", "call: '/sbin/reboot' never matches"),
    "a call with a space at its end": (EXPECT + '{call: §"reboot "}', "call: 'reboot ' has a space at its end, which no call has."),
    "a call on a GPU": (EXPECT + "{never: {call: reboot, gpu: §n0/3}}", "gpu: a call is made on a node: say 'node:'."),
    "an action with a cause": (EXPECT + "{never: {action: reboot, cause: §bus}}", "cause: only an incident has one."),
    "never two things": (EXPECT + "{never: §{action: reboot, call: reboot}}", "never needs exactly one of action, call, incident."),
    "never nothing": (EXPECT + "{never: §{node: n0}}", "never needs exactly one of action, call, incident."),
    "never a word": (EXPECT + "{never: §reboot}", "never: expected a mapping, not 'reboot'."),
    "never, but for what is none": (EXPECT + "{never: {action: reboot}, except: §{node: n0}}", "except needs exactly one of action, call, incident."),
    "an exit status that is none": (EXPECT + "{exit: §999}" + RUN, "exit: '999' is no exit status from 0 to 255."),
    "a reach of what is not there": (EXPECT + "{touched: {gpus: [n0/3, §n4/0]}}", "gpus: there is no node 'n4'"),
    "a reach of an unknown sort": (EXPECT + "{touched: {§node: n0}}", "unknown key 'node' in touched. Did you mean 'nodes'?"),
    # states
    "a share that cannot be": (EXPECT + '{state: {gpu: n0/3, utilization: §"> 150%"}}', "utilization: '> 150%' can never hold."),
    "a share that is always so": (EXPECT + '{state: {gpu: n0/3, utilization: §"<= 100%"}}', "utilization: '<= 100%' always holds."),
    "a comparison without its unit": (EXPECT + '{state: {gpu: n0/3, temperature: §"< 85"}}', "temperature: '< 85' is no comparison, such as \"< 85C\"."),
    "a comparison with another's unit": (EXPECT + '{state: {gpu: n0/3, temperature: §"< 85W"}}', "temperature: '< 85W' is no comparison"),
    "more memory than there is": (EXPECT + '{state: {gpu: n0/3, memory: §"> 90GiB"}}', "memory: '> 90GiB' can never hold: these GPUs have 80 GiB."),
    "less than nothing": (EXPECT + '{state: {gpu: n0/3, processes: §"< 0"}}', "processes: '< 0' can never hold."),
    "a lost GPU that is measured": (EXPECT + '{state: {gpu: n0/3, state: §lost, temperature: "< 85C"}}', "state: a GPU that is lost can be nothing else besides."),
    "a state of nobody": (EXPECT + '{state: §{temperature: "< 85C"}}', "state needs exactly one of "),
    "a state without a condition": (EXPECT + "{state: §{gpu: n0/3}}", "state: a gpu without a condition is always as it should be."),
    "a state of a misspelt key": (EXPECT + '{state: {gpu: n0/3, §temprature: "< 85C"}}', "unknown key 'temprature' in state. Did you mean 'temperature'?"),
    "a word for a node that is none": (EXPECT + "{state: {node: n0, is: §draind}}", "is: unknown value 'draind'. Did you mean 'drained'?"),
    "drained without a scheduler": (ALONE + "expect:\n  - {state: {node: n0, is: §drained}}", "is: 'drained' needs a scheduler: fleet: {scheduler: slurm}."),
    "until what needs a scheduler": (ALONE + "expect:\n  - {never: {action: reboot}, until: {node: n0, is: §drained}}", "is: 'drained' needs a scheduler"),
    "a job's state that is none": (EXPECT + "{state: {job: train, is: §runing}}", "is: unknown value 'runing'. Did you mean 'running'?"),
    "a file that nobody can change": (EXPECT + "{state: {file: §/proc/cpuinfo, node: n0, has: x}}", "file: '/proc/cpuinfo' cannot be changed"),
    "a file on no node": (EXPECT + "{state: §{file: /etc/hosts, has: x}}", "state needs the key 'node'."),
    "a file of which nothing is said": (EXPECT + "{state: {file: §/etc/hosts, node: n0}}", "file: say what it 'has' or 'lacks'."),
    "an unknown service": (EXPECT + "{state: {node: n0, services: [§nvidia-fabricmanger]}}", "services: unknown service 'nvidia-fabricmanger'. Did you mean 'nvidia-fabricmanager'?"),
    # two at odds
    "what cannot come and never be": (EXPECT + "{action: reboot, node: n0, within: 1m}\n  - §{never: {action: reboot}}", "it cannot come and never happen (line 10)."),
    "an incident that cannot come and never be": (
        EXPECT + "{never: {incident: GpuLost}}\n  - §{incident: GpuLost, gpu: n0/3}",
        "it cannot come and never happen (line 10).",
    ),
    "the same twice": (EXPECT + "{incident: GpuLost}\n  - §{incident: GpuLost}", "the same is expected twice (line 10)."),
    "two exit statuses": (EXPECT + "§{exit: 1}\nrunbook: {run: [bash, -c, x], exit: 0}\n", "the runbook cannot end with two statuses"),
    # times
    "an entry after the end": (WORLD.replace("heal: hot", "§heal: hot") + "stop: {after: 4m}\n", "it would come at 5m, and the run stops after 4m."),
    "a deadline after the end": (EXPECT + "§{incident: GpuLost, from: cool, within: 6m}\nstop: {after: 10m}\n", "it has until 11m on the run's clock, and the run stops after 10m."),
    "a time before the beginning": (HEAD + "timeline:\n  - {at: §-5s, lost: {gpu: 3}}\n", "at: '-5s' is not a duration"),
    "a stop of a wrong key": (HEAD + "stop: {§afer: 5m}\n", "unknown key 'afer' in stop. Did you mean 'after'?"),
    "a stop that is a duration": (HEAD + "stop: §5m\n", "stop is a mapping of after, calls, wall, not '5m'."),
    # the runbook
    "a runbook's exit status": (HEAD + "runbook: {run: [bash, -c, x], exit: §999}\n", "exit: '999' is no exit status from 0 to 255."),
    "a runbook that is not there": (HEAD + "runbook: {run: §./fix.sh}\n", "run: there is no file '"),
    "a runbook that is no program": (HEAD + "runbook: {run: §drill.yml.txt}\n", "run: there is no file '"),
    "a runbook without a program": (HEAD + "runbook: §{when: GpuLost}\n", "runbook needs the key 'run'."),
    "a runbook for an unknown kind": (HEAD + "runbook: {run: [bash, -c, x], when: §GpuLots}\n", "unknown kind of incident 'GpuLots'. Did you mean 'GpuLost'?"),
    "a runbook's argument of a wrong name": (HEAD + 'runbook: {run: [bash, -c, x], args: [§"{gpus}"]}\n', "args: unknown name '{gpus}'. Did you mean 'gpu'?"),
    "a runbook on no node": (HEAD + "runbook: {run: [bash, -c, x], on: §n9}\n", "on: there is no node 'n9'"),
    # what is given
    "an unknown given": (HEAD + "given: {§flet: {nodes: 2}}\n", "unknown key 'flet' in given. Did you mean 'fleet'?"),
    "a fleet that is a number": (HEAD + "given: {fleet: §2}\n", "fleet is a mapping of nodes, gpus, model"),
    "an unknown scheduler": (HEAD + "given: {fleet: {scheduler: §slrum}}\n", "unknown scheduler 'slrum'. Did you mean 'slurm'?"),
    "a driver of no version": (HEAD + "given: {fleet: {driver: §new}}\n", "driver: 'new' is not a version of the driver, such as 570.133.20."),
    "an interface twice": (HEAD + "given: {fleet: {nics: [ib0, §ib0]}}\n", "nics: a second interface 'ib0'."),
    "an interface of no name": (HEAD + "given: {fleet: {nics: [§Ethernet Card]}}\n", "nics: 'Ethernet Card' is no interface's name, such as ens3 or ib0."),
    "more GPUs expected than can be": (HEAD + "given: {expected_gpus: §65}\n", "expected_gpus: 65 is more than 64."),
    "a job's id of no letters": (HEAD + "given: {jobs: [{id: §a b, nodes: n0}]}\n", "id: 'a b' is not a job's id, such as train."),
    "a job of a list": (HEAD + "given: {jobs: [{id: §[a], nodes: n0}]}\n", "id: expected one value, not a list."),
    "a steady state that is none": (HEAD + "given: {steady: [§up]}\n", "steady: expected a mapping, not 'up'."),
    "jobs that are a mapping": (HEAD + "given: {jobs: §{id: a}}\n", "jobs: expected a list, not a mapping."),
    "a file given that is none": (HEAD + "given: {files: [{node: n0, path: §etc, content: x}]}\n", "path: 'etc' is not an absolute path"),
    "an environment given of no job": (HEAD + "given: {env: [{job: §train, set: {A: b}}]}\n", "job: there is no job 'train'"),
    "an environment of a list": (WORLD + "  - {at: 6m, env: {job: train, set: §[A]}}\n", "set: expected one value, not a list."),
    "no environment at all": (WORLD + "  - {at: 6m, env: {job: train, set: §{}}}\n", "set: '' is not names with their values"),
    # what varies
    "variation of nothing": (WORLD + "vary: {§hit.thermal.gpu: any}\n", "vary: no entry has the id 'hit'. Did you mean 'hot'?"),
    "variation of an unknown argument": (WORLD + "vary: {§hot.thermal.gpus: any}\n", "vary: entry 'hot' has no 'thermal.gpus'. Did you mean 'thermal.gpu'?"),
    "any of what has no end": (WORLD + "vary: {hot.thermal.airflow: §any}\n", "airflow: there is no 'any' of this: give a range or a list of values."),
    "a range that runs backwards": (WORLD + "vary: {hot.thermal.airflow: §40%..10%}\n", "airflow: the range 40%..10% runs backwards."),
    "a range of other values": (WORLD + "vary: {hot.thermal.airflow: §10..40}\n", "airflow: '10..40' is no range of values of which each is a percentage"),
    "a list with one that is none": (WORLD + "vary: {hot.thermal.airflow: [10%, §20]}\n", "airflow: '20' is not a percentage"),
    "a list of nothing": (WORLD + "vary: {hot.thermal.airflow: §[]}\n", "airflow: the list is empty."),
    "variation over GPUs that are not there": (WORLD + "vary: {hot.thermal.gpu: §n0..n2/3}\n", "gpu: there is no node 'n2'"),
    "variation that is a list": (WORLD + "vary: §[hot]\n", "vary: expected a mapping, not a list."),
    # faults
    "a selection of nothing": (HEAD + 'timeline:\n  - {at: 1s, lost: {gpu: §""}}\n', "gpu: '' is not a selection of GPUs"),
    "a fault that is a word": (HEAD + "timeline:\n  - {at: 1s, lost: §n0/3}\n", "'lost' takes a mapping, such as {gpu: n0/3, ...}."),
    "a job that only the timeline ends": (WORLD + "  - {at: 6m, job: {stop: §eval}}\n", "stop: there is no job 'eval'"),
    # YAML
    "a bracket left open": (WORLD + "expect: [{incident: GpuLost}\n§seed: 3\n", "not YAML: "),
    "a wrong indentation": (HEAD + "given:\n  fleet: {nodes: 2}\n §jobs: []\n", "not YAML: "),
    "a mapping where a word is": (HEAD + "seed: §{a: 1}\n", "seed: expected one value, not a mapping."),
    "a reserved sign": (HEAD + "seed: §@3\n", "not YAML: "),
    "an allowance of an unknown kind": (HEAD + "allow: [§GpuXidd]\n", "unknown kind of incident 'GpuXidd'. Did you mean 'GpuXid'?"),
    "an allowance of a list": (HEAD + "allow: [§[GpuXid]]\n", "allow: expected a kind, not a list."),
}  # fmt: skip


def _marked(text: str) -> tuple[str, int, int]:
    """A text without its mark, and the mark's line and column."""
    at = text.index("§")
    line = text.count("\n", 0, at) + 1
    return text.replace("§", "", 1), line, at - text.rfind("\n", 0, at)


@pytest.mark.parametrize("name", BROKEN)
def test_each_is_one_line_at_its_place(name, scenario_file):
    """FILE:LINE:COLUMN of what is wrong, what was found, what was expected; and nothing else."""
    text, line, column = _marked(BROKEN[name][0])
    path = scenario_file(text)
    with pytest.raises(BadScenarioError) as caught:
        load(path)
    assert caught.value.told().startswith(f"{path}:{line}:{column}: {BROKEN[name][1]}")
    assert "\n" not in caught.value.told()


def test_the_command_tells_it_and_ends_with_254(scenario_file, capsys):
    """On standard error, and the exit status says whose mistake it is."""
    path = scenario_file(HEAD + "sede: 3\n")
    assert main(["check", str(path)]) == 254
    assert capsys.readouterr().err == (
        f"{path}:3:1: unknown key 'sede' in a scenario. Did you mean 'seed'? Known: scenario, why, "
        "given, timeline, expect, runbook, seed, stop, vary, allow.\n"
    )


def _keys(tree: Tree, trail: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Word]]:
    """Every key of a tree, with those above it."""
    if isinstance(tree, Items):
        for item in tree.items:
            yield from _keys(item, trail)
    elif isinstance(tree, Table):
        for key, value in tree.entries:
            yield (*trail, key.text), key
            if trail[-1:] != ("vary",):
                yield from _keys(value, (*trail, key.text))


def _every_key() -> dict[str, tuple[Path, Word]]:
    """Each key that the library uses once, wherever it stands."""
    found: dict[str, tuple[Path, Word]] = {}
    for path in shipped().values():
        for trail, key in _keys(read_tree(path, Mistakes())):
            if "set" not in trail[:-1] and trail[0] != "vary":
                found.setdefault(".".join(trail), (path, key))
    return found


KEYS = _every_key()


@pytest.mark.parametrize("name", KEYS)
def test_a_misspelt_key_is_told_where_it_stands(name, tmp_path):
    """Every key of every scenario that comes along, with a letter too many."""
    path, key = KEYS[name]
    lines = path.read_text(encoding="utf-8").splitlines()
    at, column = key.place.line - 1, key.place.column - 1 + len(key.text)
    lines[at] = f"{lines[at][:column]}q{lines[at][column:]}"
    copy = tmp_path / path.name
    copy.write_text("\n".join(lines), encoding="utf-8")
    if (path.parent / "runbooks").exists():
        (tmp_path / "runbooks").symlink_to(path.parent / "runbooks")
    with pytest.raises(BadScenarioError) as caught:
        load(copy)
    mine = [one for one in caught.value.errors if one.place.line == at + 1]
    assert key.place.column in [one.place.column for one in mine], caught.value.told()
    (error,) = [one for one in mine if one.place.column == key.place.column][:1]
    assert f"'{key.text}q'" in str(error)


def test_every_cause_that_a_log_text_has_is_one_of_its_kind():
    """The closed list of causes holds what gputui tells."""
    known = {fact.kind: fact.causes for fact in kind_table().facts.values()}
    told = {(one.kind, one.cause) for one in text_facts().values() if one.kind and one.cause}
    assert [(kind, cause) for kind, cause in told if cause not in known[kind]] == []
