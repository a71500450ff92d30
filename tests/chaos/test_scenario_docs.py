"""docs/scenarios.md says what the loader does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chaos import terms
from chaos.condition import condition_types
from chaos.expectation import expectation_types
from chaos.fault import families
from chaos.fleet import MAX_GPUS, MAX_NODES, Fleet, Job
from chaos.format import given_reader, loader
from chaos.format.values import Celsius, Duration, Percent, Rate, Size, Watts, convert
from chaos.format.yaml_tree import MAX_ITEMS
from chaos.selection import Gpus, Nodes

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/scenarios.md").read_text(encoding="utf-8")
TERMS = set(re.findall(r"`([^`\n]+)`", TEXT))


@pytest.mark.parametrize(
    "keys",
    [
        loader.KEYS,
        given_reader.GIVEN_KEYS,
        given_reader.FLEET_KEYS,
        given_reader.JOB_KEYS,
        terms.RUNBOOK_KEYS,
        terms.STOP_KEYS,
        *([*kind.types, "from", "within", "hold"] for kind in expectation_types().values()),
        *(kind.types for kind in condition_types().values()),
    ],
)
def test_every_key_is_documented(keys):
    """Whatever key the loader takes stands in the document."""
    assert not {key.rstrip("_") for key in keys} - TERMS


@pytest.mark.parametrize("family", [*families(), "heal"])
def test_every_fault_has_a_row_with_its_arguments(family):
    """The rows of a verb name each of its faults' arguments, and none that they have not."""
    rows = re.findall(rf"^\| `{family}` \| (.*?) \|", TEXT, re.MULTILINE)
    kinds = families().get(family, ())
    wanted = {argument.name for kind in kinds for argument in kind.arguments} or {"id"}
    assert {name for row in rows for name in re.findall(r"`(\w+)(?:: \w+)?`", row)} == wanted


def test_the_scenarios_in_it_are_good(tmp_path):
    """Every scenario in the documents reads without a mistake, if the file has its name."""
    texts = [TEXT, (ROOT / "README.md").read_text(encoding="utf-8")]
    found = [block for text in texts for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    assert len(found) >= 2
    for block in found:
        path = tmp_path / f"{block.split()[1]}.yaml"
        path.write_text(block)
        loader.load(path)


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("a duration", Duration),
        ("a share", Percent),
        ("memory", Size),
        ("memory over time", Rate),
        ("a temperature", Celsius),
        ("power", Watts),
        ("a selection of GPUs", Gpus),
        ("a selection of nodes", Nodes),
        ("truth", bool),
    ],
)
def test_every_value_in_it_reads(row, kind):
    """What is shown as a value of a type is one."""
    (examples,) = re.findall(rf"^\| {row} \| (.*?) \|", TEXT, re.MULTILINE)
    words = [word.strip('"') for word in re.findall(r"`([^`]+)`", examples)]
    assert words
    for word in words:
        convert(word, kind)


def test_limits_and_usual_values_are_those_of_the_code():
    """Numbers in the document are not out of date."""
    usual, job = Fleet(), Job("", Gpus("*/*"))
    assert f"`nodes` (1 to {MAX_NODES}," in TEXT
    assert f"`gpus` on each node (1 to {MAX_GPUS})" in TEXT
    assert f"Left out: {usual.nodes}, {usual.gpus}, {usual.model}, the model's own." in TEXT
    assert f"(a percentage of each GPU, {job.load:.0%})" in TEXT
    assert f"`memory` on each GPU ({Size(job.memory_bytes)})" in TEXT
    assert f"at most {MAX_ITEMS} entries" in TEXT
