"""Every scenario that comes along, with one thing wrong in it: one line says so, where it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chaos.cli import main
from chaos.errors import BadScenarioError, Mistakes
from chaos.format.loader import load
from chaos.format.yaml_tree import Items, Table, Tree, Word, read_tree
from chaos.library import shipped

HEAD = "scenario: drill\nwhy: Something breaks.\n"
PROSE = ("why", "args", "set")
"""What may be anything is not wrong whatever it is."""
MEASURED = re.compile(r"([0-9][0-9.]*)(us|ms|s|m|h|d|%|[KMGT]iB(?:/[smh])?|C|k?W)")


@dataclass(frozen=True)
class Change:
    """A word or key of a file: the text that takes its place."""

    path: Path
    at: Word
    source: str
    new: str

    def text(self) -> str:
        """The whole file with it."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        row, column = self.at.place.line - 1, self.at.place.column - 1
        line = lines[row]
        lines[row] = line[:column] + self.new + line[column + len(self.source) :]
        return "\n".join(lines) + "\n"


def _words(tree: Tree, trail: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Word]]:
    """Every value of a tree that is one word, with the keys above it."""
    if isinstance(tree, Word):
        yield trail, tree
    elif isinstance(tree, Items):
        for item in tree.items:
            yield from _words(item, trail)
    elif isinstance(tree, Table):
        for key, value in tree.entries:
            yield from _words(value, (*trail, key.text))


def _changes() -> dict[str, Change]:
    """For each place that a value may stand in: values of other types there."""
    found: dict[str, Change] = {}
    for path in shipped().values():
        lines = path.read_text(encoding="utf-8").splitlines()
        for trail, word in _words(read_tree(path, Mistakes())):
            rest = lines[word.place.line - 1][word.place.column - 1 :]
            quote = rest[0] if rest[0] in "\"'" else ""
            source = f"{quote}{word.text}{quote}"
            if set(trail) & set(PROSE) or not rest.startswith(source):
                continue
            news = {"a mapping": "{a: b}"}
            if trail[-1] not in ("run", "when", "nodes", "gpus", "jobs", "services", "except"):
                news["a list of lists"] = "[[a]]"
            if measured := MEASURED.fullmatch(word.text):
                news["no unit"] = measured[1]
                news["another unit"] = f"{measured[1]}furlongs"
                news["a sign"] = f"-{word.text}"
            for name, new in news.items():
                found.setdefault(f"{'.'.join(trail[-2:])}: {name}", Change(path, word, source, new))
    return found


CHANGES = _changes()


def mistakes_in(text: str, path: Path, folder: Path | None = None) -> list[str]:
    """The lines that are told of a scenario, each without the file's name."""
    path.write_text(text, encoding="utf-8")
    if folder is not None and (folder / "runbooks").exists():
        (path.parent / "runbooks").symlink_to(folder / "runbooks")
    with pytest.raises(BadScenarioError) as caught:
        load(path)
    return [line.removeprefix(f"{path}:") for line in caught.value.told().splitlines()]


@pytest.mark.parametrize("name", CHANGES)
def test_a_value_of_another_type_is_one_line_where_it_stands(name, tmp_path):
    """Each kind of value that there is, replaced by what cannot be meant."""
    change = CHANGES[name]
    told = mistakes_in(change.text(), tmp_path / change.path.name, change.path.parent)
    place = change.at.place
    assert len(told) == 1, told
    assert told[0].startswith(f"{place.line}:{place.column}: "), told


ONE = {
    # what shows in several places
    "an id that is gone": (
        "timeline:\n  - {at: 1s, lost: {gpu: 3}}\n  - {at: 2s, heal: hit}\nexpect:\n"
        "  - {incident: GpuLost, from: hit, within: 5s}\n  - {incident: GpuXid, from: hit}\n",
        "5:20: heal: no entry above has the id 'hit'. The same in lines 7 and 8.",
    ),
    "an id that cannot be read": (
        "timeline:\n  - {id: [hit], at: 1s, lost: {gpu: 3}}\n  - {at: 2s, heal: hit}\n",
        "4:10: id: expected one value, not a list.",
    ),
    "an id of an entry that cannot be read": (
        "timeline:\n  - {id: hit, at: 1s, lost: {gpu: [3]}}\n  - {at: 2s, heal: hit}\n",
        "4:35: gpu: expected one value, not a list.",
    ),
    "an id of no letters": (
        "timeline:\n  - {id: '~', at: 1s, lost: {gpu: 3}}\n",
        "4:10: id: '~' is no id of an entry, such as burst-1.",
    ),
    "the key of an id, misspelt": (
        "timeline:\n  - {idd: hit, at: 1s, lost: {gpu: 3}}\n  - {at: 2s, heal: hit}\n",
        "4:6: unknown fault 'idd'. Did you mean 'id'?",
    ),
    "the key of a time, misspelt": (
        "timeline:\n  - {att: 1s, lost: {gpu: 3}}\n",
        "4:6: unknown fault 'att'. Did you mean 'at'?",
    ),
    "a node too few": (
        "timeline:\n  - {at: 1s, lost: {gpu: n1/3}}\n  - {at: 2s, lost: {gpu: n1/3}}\n",
        "4:26: gpu: there is no node 'n1'; the nodes are n0. The same in line 5.",
    ),
    "a scheduler that is forgotten": (
        "given: {jobs: [{id: a, gpus: n0/0}]}\ntimeline:\n  - {at: 1s, lost: {gpu: 3}}\nexpect:\n"
        "  - {state: {node: n0, is: drained}}\n  - {state: {job: a, is: pending}}\n",
        "7:28: is: 'drained' needs a scheduler: fleet: {scheduler: slurm}. The same in line 8.",
    ),
    "a scheduler that is misspelt": (
        "given: {fleet: {schedular: slurm}}\nexpect:\n  - {state: {node: n0, is: drained}}\n",
        "3:17: unknown key 'schedular' in fleet. Did you mean 'scheduler'?",
    ),
    "a needed key, misspelt": (
        "given: {jobs: [{id: a, gpuss: n0/0}]}\n",
        "3:24: unknown key 'gpuss' in a job. Did you mean 'gpus'?",
    ),
    "an entry of nothing": (
        "timeline:\n  - {}\n",
        "4:5: an entry is a mapping of at, a fault and perhaps id, not an empty mapping.",
    ),
    "a job of nothing": (
        "given: {jobs: [{}]}\n",
        "3:16: a job needs an id, and gpus or nodes.",
    ),
    "a fault of nothing": (
        "timeline:\n  - {at: 1s, xid: {}}\n",
        "4:14: 'xid' needs the arguments 'gpu' and 'code'.",
    ),
    # heals that heal nothing
    "a heal before its fault": (
        "timeline:\n  - {id: a, at: 5s, lost: {gpu: 3}}\n  - {at: 1s, heal: a}\n",
        "5:14: heal: 'a' comes only at 5s: heal it after that.",
    ),
    "a second heal": (
        "timeline:\n  - {id: a, at: 5s, lost: {gpu: 3}}\n  - {at: 6s, heal: a}\n"
        "  - {at: 7s, heal: a}\n",
        "6:14: heal: 'a' is healed already (line 5).",
    ),
    "a heal of a heal": (
        "timeline:\n  - {id: a, at: 5s, lost: {gpu: 3}}\n  - {id: b, at: 6s, heal: a}\n"
        "  - {at: 7s, heal: b}\n",
        "6:14: heal: 'b' is itself a heal: there is nothing to take back.",
    ),
    "a heal of itself": (
        "timeline:\n  - {id: a, at: 5s, heal: a}\n",
        "4:27: heal: no entry above has the id 'a'.",
    ),
    # what is no comparison
    "a temperature where a comparison is": (
        "expect:\n  - {state: {gpu: 3, temperature: 85C}}\n",
        "4:35: temperature: '85C' is no comparison: what is measured is hardly ever exactly so. "
        'Write "< 85C" or ">= 85C".',
    ),
    "a measured value that is to be exactly so": (
        'expect:\n  - {state: {gpu: 3, power: "== 300W"}}\n',
        "4:29: power: '== 300W' is no comparison:",
    ),
    "a measured value that is not to be exactly so": (
        'expect:\n  - {state: {gpu: 3, clock: "!= 1980MHz"}}\n',
        "4:29: clock: '!= 1980MHz' is no comparison:",
    ),
    "a temperature that no sensor has": (
        'expect:\n  - {state: {gpu: 3, temperature: "< 300C"}}\n',
        "4:35: temperature: '< 300C' always holds.",
    ),
    # texts and lists of nothing
    "a name of nothing": (
        'timeline:\n  - {at: 1s, process: {gpu: 3, alien: ""}}\n',
        "4:39: alien: it is empty.",
    ),
    "a runbook for a list of nothing": (
        "runbook: {run: [bash, -c, x], when: []}\n",
        "3:37: when: the list is empty: leave it out for any kind.",
    ),
    # YAML
    "a comma in a number": (
        "timeline:\n  - {at: 1,000s, lost: {gpu: 3}}\n",
        "4:12: a comma ends the value before '000s': leave it out.",
    ),
    "a tab": (
        "timeline:\n\t- {at: 1s, lost: {gpu: 3}}\n",
        "4:1: not YAML: a tab: indent with spaces.",
    ),
    "a quote that is never closed": (
        'timeline:\n  - {at: 1s, lost: {gpu: "n0/3}}\n',
        "4:26: not YAML: the quote that opens here is not closed on its line.",
    ),
    "a quote that the next one closes": (
        'timeline:\n  - {at: 1s, lost: {gpu: "n0/3}}\n  - {at: 1s, lost: {gpu: "n0/4"}}\n',
        "4:26: not YAML: the quote that opens here is not closed on its line.",
    ),
}


@pytest.mark.parametrize("name", ONE)
def test_one_mistake_is_one_line(name, tmp_path):
    """However many places it shows in: its first place, what is wrong, and where else."""
    told = mistakes_in(HEAD + ONE[name][0], tmp_path / "drill.yaml")
    assert len(told) == 1, told
    assert told[0].startswith(ONE[name][1]), told


@pytest.mark.parametrize("zero", ["utilization: 0%", "memory: 0GiB", "processes: 4"])
def test_what_is_counted_or_none_may_be_exactly_so(zero, scenario_file):
    """A GPU without a process uses nothing, and that is no coincidence."""
    assert load(scenario_file(HEAD + f"expect:\n  - {{state: {{gpu: n0/3, {zero}}}}}\n"))


def test_the_file_of_a_fault_may_become_empty(scenario_file):
    """A text that names something may not be empty; what stands in a file may."""
    fault = '{node: n0, path: /etc/motd, content: ""}'
    assert load(scenario_file(HEAD + f"timeline:\n  - {{at: 1s, file: {fault}}}\n")).timeline


def test_what_is_given_and_cannot_be_is_told_where_it_is_written(scenario_file, capsys):
    """Only the world knows what its files say: it is told when the run is to begin."""
    never = '{node: n0, path: /etc/hosts, replace: "no such text", with: x}'
    text = (
        f"{HEAD}given: {{files: [{never}]}}\ntimeline:\n  - {{at: 1s, lost: {{gpu: 3}}}}\n"
        "expect:\n  - {incident: GpuLost}\n"
    )
    path = scenario_file(text)
    assert main(["test", str(path)]) == 254
    told = capsys.readouterr().err
    assert told == f"{path}:3:17: given: there is no 'no such text' in /etc/hosts of n0.\n"


def test_a_test_that_proves_nothing_is_told_where_it_says_so(scenario_file, capsys):
    """An empty timeline at its place; one that is not there at the file's beginning."""
    path = scenario_file(f"{HEAD}timeline: []\nexpect:\n  - {{incident: GpuLost}}\n")
    assert main(["test", str(path)]) == 254
    assert capsys.readouterr().err == (f"{path}:3:11: nothing breaks: a test needs a timeline.\n")
    path = scenario_file(f"{HEAD}timeline:\n  - {{at: 1s, lost: {{gpu: 3}}}}\n")
    assert main(["test", str(path)]) == 254
    assert capsys.readouterr().err.startswith(f"{path}:1:1: nothing is expected")
