"""Scenario files in; scenarios, or one-line errors at their place, out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chaos.errors import Place, ScenarioError, did_you_mean
from chaos.fault import ArgumentError, Fault, check_selections, families, parse_fault
from chaos.fleet import MAX_GPUS, MAX_NODES, Fleet, Given, Job, gpus_of
from chaos.scenario import Entry, Heal, Scenario
from chaos.selection import Gpus, Inventory, Nodes, SelectionError
from chaos.values import BadValueError, Count, Duration, Percent, Size, convert
from chaos.yaml_tree import Items, Table, Tree, Word, kind_of, read_tree
from fakes.profile import models

_KEYS = (
    "scenario", "why", "given", "timeline",
    "expect", "runbook", "seed", "stop", "vary", "allow",
)  # fmt: skip
_FLEET_KEYS = ("nodes", "gpus", "model", "driver")
_JOB_KEYS = ("id", "gpus", "nodes", "load", "memory", "user", "command")
_EXPECTATIONS = ("incident", "call", "action", "state", "log", "exit", "never", "touched")
_MAX_ENTRIES = 5_000


def load(path: Path) -> Scenario:
    """Read and check a scenario file."""
    tree = read_tree(path)
    top = _Fields(tree, _KEYS, "a scenario")
    name = top.need("scenario")
    if name.text != path.stem:
        raise ScenarioError(
            name.place, f"scenario '{name.text}' in a file named {path.name}: the two must agree."
        )
    why = top.need("why")
    given = _given(top.get("given"))
    _check_not_judged_yet(top)
    return Scenario(
        name.text,
        why.text,
        path,
        given,
        _timeline(top.get("timeline"), given.inventory),
        top.value("seed", int, 0),
    )


class _Fields:
    """A mapping of which every key is known, and how to read its values."""

    def __init__(self, tree: Tree, names: Sequence[str], what: str) -> None:
        if not isinstance(tree, Table):
            raise ScenarioError(
                tree.place, f"{what} is a mapping of {', '.join(names)}, not {kind_of(tree)}."
            )
        for key, _ in tree.entries:
            if key.text not in names:
                hint = did_you_mean(key.text, names)
                raise ScenarioError(key.place, f"unknown key '{key.text}' in {what}{hint}")
        self.table = tree
        self.what = what

    def get(self, name: str) -> Tree | None:
        return self.table.get(name)

    def word(self, name: str) -> Word | None:
        """The word under a key, if the key is there."""
        tree = self.table.get(name)
        if tree is not None and (not isinstance(tree, Word) or not tree.text):
            raise ScenarioError(tree.place, f"{name}: expected one value, not {kind_of(tree)}.")
        return tree

    def need(self, name: str) -> Word:
        """The word under a key that must be there."""
        word = self.word(name)
        if word is None:
            raise ScenarioError(self.table.place, f"{self.what} needs the key '{name}'.")
        return word

    def value(self, name: str, kind: type, default: Any) -> Any:
        """The word under a key as a value of a type."""
        word = self.word(name)
        return default if word is None else _value(word, name, kind)


def _value(word: Word, name: str, kind: type) -> Any:
    try:
        return convert(word.text, kind)
    except BadValueError as error:
        raise ScenarioError(word.place, f"{name}: {error}") from error


# --- given ---------------------------------------------------------------------------------------


def _given(tree: Tree | None) -> Given:
    if tree is None:
        return Given(Fleet())
    fields = _Fields(tree, ("fleet", "jobs"), "given")
    fleet = _fleet(fields.get("fleet"))
    jobs: list[Job] = []
    held: dict[tuple[str, int], int] = {}
    for item in _items(fields.get("jobs"), "jobs"):
        job = _job(item, fleet)
        if job.id in {other.id for other in jobs}:
            raise ScenarioError(item.place, f"a second job '{job.id}'.")
        jobs.append(job)
        for gpu in job.gpus.resolve(Inventory(fleet.names, fleet.gpus)):
            held[gpu] = held.get(gpu, 0) + job.memory_bytes
            if held[gpu] > fleet.gpu_capacity_bytes:
                raise ScenarioError(
                    item.place,
                    f"{gpu[0]}/{gpu[1]} would hold {Size(held[gpu])}; "
                    f"a GPU of model {fleet.model} has {Size(fleet.gpu_capacity_bytes)} for jobs.",
                )
    return Given(fleet, tuple(jobs))


def _fleet(tree: Tree | None) -> Fleet:
    if tree is None:
        return Fleet()
    fields = _Fields(tree, _FLEET_KEYS, "fleet")
    default = Fleet()
    counts = {}
    for name, most, usual in (
        ("nodes", MAX_NODES, default.nodes),
        ("gpus", MAX_GPUS, default.gpus),
    ):
        counts[name] = fields.value(name, Count, Count(usual)).number
        if counts[name] > most:
            word = fields.need(name)
            raise ScenarioError(word.place, f"{name}: {word.text} is more than {most}.")
    model = fields.word("model")
    if model is not None and model.text not in models():
        hint = did_you_mean(model.text, models(), "Known models")
        raise ScenarioError(model.place, f"unknown model '{model.text}'{hint}")
    return Fleet(
        counts["nodes"],
        counts["gpus"],
        model.text if model else default.model,
        fields.value("driver", str, None),
    )


def _job(tree: Tree, fleet: Fleet) -> Job:
    fields = _Fields(tree, _JOB_KEYS, "a job")
    name = fields.need("id").text
    if ("gpus" in fields.table) == ("nodes" in fields.table):
        raise ScenarioError(tree.place, f"job '{name}' needs gpus or nodes, and not both.")
    on = fields.need("gpus" if "gpus" in fields.table else "nodes")
    inventory = Inventory(fleet.names, fleet.gpus)
    if "gpus" in fields.table:
        gpus: Gpus = _value(on, "gpus", Gpus)
    else:
        gpus = gpus_of(_value(on, "nodes", Nodes))
    try:
        gpus.resolve(inventory)
    except SelectionError as error:
        raise ScenarioError(on.place, f"{error}.") from error
    default = Job(name, gpus)
    return Job(
        name,
        gpus,
        fields.value("load", Percent, Percent(default.load * 100)).share,
        fields.value("memory", Size, Size(default.memory_bytes)).bytes,
        fields.value("user", str, default.user),
        fields.value("command", str, default.command),
    )


# --- timeline ------------------------------------------------------------------------------------


def _timeline(tree: Tree | None, inventory: Inventory) -> tuple[Entry, ...]:
    entries: list[Entry] = []
    items = _items(tree, "timeline")
    if len(items) > _MAX_ENTRIES:
        raise ScenarioError(
            items[_MAX_ENTRIES].place,
            f"more than {_MAX_ENTRIES} entries: a burst is one entry with 'times:'.",
        )
    for item in items:
        entry = _entry(item, inventory, [other.id for other in entries if other.id])
        entries.append(entry)
    return tuple(entries)


def _entry(tree: Tree, inventory: Inventory, earlier: list[str]) -> Entry:
    verbs = (*families(), "heal")
    if not isinstance(tree, Table):
        raise ScenarioError(
            tree.place, f"an entry is a mapping of at, a fault and perhaps id, not {kind_of(tree)}."
        )
    given = [key for key, _ in tree.entries if key.text not in ("id", "at")]
    for key in given:
        if key.text not in verbs:
            hint = did_you_mean(key.text, verbs, "Known faults")
            raise ScenarioError(key.place, f"unknown fault '{key.text}'{hint}")
    if not given:
        raise ScenarioError(
            tree.place, f"an entry needs a fault. Known faults: {', '.join(verbs)}."
        )
    if len(given) > 1:
        raise ScenarioError(
            given[1].place,
            f"'{given[0].text}' and '{given[1].text}' in one entry: one entry is one fault.",
        )
    verb = given[0]
    fields = _Fields(tree, ("id", "at", verb.text), "an entry")
    at_us = _value(fields.need("at"), "at", Duration).us
    name = fields.word("id")
    if name is not None and name.text in earlier:
        raise ScenarioError(name.place, f"a second entry with the id '{name.text}'.")
    what = _heal(fields, earlier) if verb.text == "heal" else _fault(verb, fields, inventory)
    return Entry(at_us, what, verb.place, name.text if name else None)


def _heal(fields: _Fields, earlier: list[str]) -> Heal:
    word = fields.need("heal")
    if word.text not in earlier:
        hint = did_you_mean(word.text, earlier, "Ids above")
        raise ScenarioError(word.place, f"heal: no entry above has the id '{word.text}'{hint}")
    return Heal(word.text)


def _fault(verb: Word, fields: _Fields, inventory: Inventory) -> Fault:
    arguments = fields.get(verb.text)
    if not isinstance(arguments, Table):
        place = arguments.place if arguments else verb.place
        raise ScenarioError(place, f"'{verb.text}' takes a mapping, such as {{gpu: n0/3, ...}}.")
    words: dict[str, str] = {}
    for key, value in arguments.entries:
        if not isinstance(value, Word):
            raise ScenarioError(
                value.place, f"{key.text}: expected one value, not {kind_of(value)}."
            )
        words[key.text] = value.text
    try:
        fault = parse_fault(verb.text, words)
        check_selections(fault, inventory)
    except ArgumentError as error:
        raise ScenarioError(_place_of(error, verb, arguments), str(error)) from error
    return fault


def _place_of(error: ArgumentError, verb: Word, arguments: Table) -> Place:
    """Where an argument's mistake lies: at its value, at its name, or at the fault's verb."""
    if error.name is None:
        return verb.place
    part = arguments.key(error.name) if error.in_name else arguments.get(error.name)
    return part.place if part is not None else verb.place


# --- accepted, and not judged by a run -----------------------------------------------------------


def _check_not_judged_yet(top: _Fields) -> None:
    """The shape of what only a verdict needs."""
    for item in _items(top.get("expect"), "expect"):
        if not isinstance(item, Table):
            raise ScenarioError(item.place, f"an expectation is a mapping, not {kind_of(item)}.")
        heads = [key for key, _ in item.entries if key.text in _EXPECTATIONS]
        if len(heads) != 1:
            raise ScenarioError(
                item.place, f"an expectation has exactly one of {', '.join(_EXPECTATIONS)}."
            )
    for name in ("runbook", "stop", "vary"):
        tree = top.get(name)
        if tree is not None and not isinstance(tree, Table):
            raise ScenarioError(tree.place, f"{name}: expected a mapping, not {kind_of(tree)}.")
    _items(top.get("allow"), "allow")


def _items(tree: Tree | None, name: str) -> tuple[Tree, ...]:
    if tree is None:
        return ()
    if not isinstance(tree, Items):
        raise ScenarioError(tree.place, f"{name}: expected a list, not {kind_of(tree)}.")
    return tree.items
