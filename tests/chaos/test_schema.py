"""The JSON Schema of scenarios, read by a library that knows nothing of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from chaos.fault import families
from chaos.format.schema import schema
from chaos.library import folder, shipped

VALIDATOR = jsonschema.Draft202012Validator(schema())
HEAD = "scenario: drill\nwhy: So.\n"


def errors(text: str) -> list[str]:
    """What the schema has against a scenario."""
    tree = YAML(typ="safe", pure=True).load(text)
    return [error.message for error in VALIDATOR.iter_errors(tree)]


def _references(part: object) -> Iterator[str]:
    """Every definition that is referred to, however deep."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)


def test_it_is_a_schema_of_the_draft_that_it_names():
    """Each keyword is of a form that the draft knows, and each reference leads to a definition."""
    named = jsonschema.validators.validator_for(schema(), default=None)
    assert named is jsonschema.Draft202012Validator
    named.check_schema(schema())
    references = set(_references(schema()))
    assert references
    assert references <= {f"#/$defs/{name}" for name in schema()["$defs"]}


def test_the_one_that_is_kept_is_up_to_date():
    """`gpuchaos schema > scenarios/scenario.schema.json` makes it anew."""
    kept = json.loads((folder() / "scenario.schema.json").read_text(encoding="utf-8"))
    assert kept == schema()


@pytest.mark.parametrize("name", shipped())
def test_every_scenario_that_comes_along_is_valid(name):
    """Also to an editor."""
    assert errors(shipped()[name].read_text(encoding="utf-8")) == []


def test_the_scenarios_in_the_documents_are_valid():
    """What people copy."""
    text = (Path(__file__).parents[2] / "docs/scenarios.md").read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in text.split("```yaml\n")[1:]]
    assert len(blocks) >= 3
    for block in blocks:
        assert errors(block) == []


WRONG = {
    "unknown key": "timelin: []",
    "no why": None,
    "a seed of letters": "seed: abc",
    "an unknown model": "given: {fleet: {model: h100-smx}}",
    "no GPUs": "given: {fleet: {gpus: 0}}",
    "a job without a place": "given: {jobs: [{id: a}]}",
    "a job with two places": "given: {jobs: [{id: a, gpus: 0, nodes: n0}]}",
    "a load without its unit": "given: {jobs: [{id: a, nodes: n0, load: 95}]}",
    "memory of another unit": "given: {jobs: [{id: a, nodes: n0, memory: 60GB}]}",
    "a timeline of words": "timeline: soon",
    "an entry without a fault": "timeline: [{at: 1s}]",
    "an entry of two faults": "timeline: [{at: 1s, lost: {gpu: 3}, hang: {gpu: 3}}]",
    "an unknown fault": "timeline: [{at: 1s, thermall: {gpu: 3}}]",
    "a time without its unit": "timeline: [{at: 30, lost: {gpu: 3}}]",
    "an unknown argument": "timeline: [{at: 1s, thermal: {gpu: 3, airflo: 20%}}]",
    "an argument too few": "timeline: [{at: 1s, xid: {gpu: 3}}]",
    "a word of a few": "timeline: [{at: 1s, lost: {gpu: 3, lookup: unknwn}}]",
    "a selection of nothing": 'timeline: [{at: 1s, lost: {gpu: ""}}]',
    "an unknown expectation": "expect: [{incedent: GpuLost}]",
    "two expectations in one": "expect: [{incident: GpuLost, action: reboot}]",
    "an unknown kind": "expect: [{incident: GpuLots}]",
    "an incident that holds": "expect: [{incident: GpuLost, hold: 1s}]",
    "an unknown action": "expect: [{action: rebot}]",
    "an exit status that is none": "expect: [{exit: 999}]",
    "a state without a condition": "expect: [{state: {gpu: n0/3}}]",
    "a state of nobody": "expect: [{state: {is: up}}]",
    "never two things": "expect: [{never: {action: reboot, call: reboot}}]",
    "a reach of another sort": "expect: [{touched: {node: n0}}]",
    "a runbook without a program": "runbook: {when: GpuLost}",
    "a runbook of a word": "runbook: fix.sh",
    "a stop of a word": "stop: 5m",
    "an allowance of an unknown kind": "allow: [GpuXidd]",
    "variation that is a list": "vary: [hot]",
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_schema_can_tell_it_tells(name):
    """Forms, words of a few, keys too many and too few."""
    wrong = WRONG[name]
    assert errors(HEAD + "\n") == []
    assert errors("scenario: drill\n" if wrong is None else f"{HEAD}{wrong}\n")


def test_every_fault_is_in_it():
    """A new one is there by being there."""
    entry = schema()["$defs"]["entry"]["properties"]
    assert set(families()) <= set(entry)
