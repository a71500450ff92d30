"""What is given at the start, as a scenario file has it: the fleet, its jobs, what is not as usual.

Files, services and environments are written as the faults that change them, one mapping each: they
have happened before the run begins.
"""

from __future__ import annotations

import re

from chaos.errors import Mistakes, Place, ScenarioError, did_you_mean, quoted
from chaos.fault import Fault, families
from chaos.fleet import MAX_GPUS, MAX_NODES, Fleet, Given, Job, gpus_of
from chaos.format.fault_reader import read_fault
from chaos.format.fields import Fields, items_of, read_value
from chaos.format.values import Count, DriverVersion, Percent, Size
from chaos.format.yaml_tree import Table, Tree, Word, kind_of
from chaos.selection import Gpus, Inventory, JobId, Nodes, SelectionError
from fakes.profile import models

BEFORE = {"files": "file", "services": "service", "env": "env"}
"""The keys of what happened before, and the faults that their items are."""

GIVEN_KEYS = ("fleet", "jobs", *BEFORE, "steady", "expected_gpus")
FLEET_KEYS = ("nodes", "gpus", "model", "driver", "scheduler", "nics")
SCHEDULERS = ("slurm", "kubernetes")
JOB_KEYS = ("id", "gpus", "nodes", "load", "memory", "user", "command", "priority")

_NIC = re.compile(r"[a-z][a-z0-9_.-]{0,14}")
"""What the kernel takes for an interface's name, as far as anybody uses it."""


def read_given(tree: Tree | None, mistakes: Mistakes) -> tuple[Given, Inventory | None]:
    """What is given, and what there is to select from; None if that is not known."""
    if tree is None:
        given = Given(Fleet())
        return given, given.inventory
    fleet: Fleet | None = None
    jobs = None
    before: list[tuple[Fault, Place]] = []
    expected = None
    with mistakes.noting():
        fields = Fields(tree, GIVEN_KEYS, "given", mistakes)
        fleet = _fleet(fields)
        jobs = _Jobs(fleet, mistakes)
        for item in items_of(fields.get("jobs"), "jobs", mistakes):
            with mistakes.noting():
                jobs.read(item)
        inventory = None if fleet is None else Inventory(fleet.names, fleet.gpus, tuple(jobs.ids))
        before = _before(fields, inventory)
        expected = _count(fields, "expected_gpus", MAX_GPUS, None)
    if fleet is None or jobs is None:
        return Given(fleet or Fleet()), None
    faults, places = tuple(fault for fault, _ in before), tuple(place for _, place in before)
    given = Given(fleet, tuple(jobs.jobs), faults, expected, places)
    return given, Inventory(fleet.names, fleet.gpus, tuple(jobs.ids))


def _before(fields: Fields, inventory: Inventory | None) -> list[tuple[Fault, Place]]:
    """What happened before the run, and where it is written."""
    found = []
    for key, family in BEFORE.items():
        word = fields.table.key(key)
        if word is not None and family not in families():
            fields.mistakes.add(
                word.place, f"{key}: this world does not know the fault '{family}'."
            )
            continue
        for item in items_of(fields.get(key), key, fields.mistakes):
            with fields.mistakes.noting():
                fault = read_fault(family, item.place, item, inventory, fields.mistakes)
                if fault is not None:
                    found.append((fault, item.place))
    return found


def _fleet(given: Fields) -> Fleet | None:
    """The fleet, or None if it has mistakes."""
    tree, mistakes = given.get("fleet"), given.mistakes
    if tree is None:
        return Fleet()
    before = len(mistakes)
    with mistakes.noting():
        fields = Fields(tree, FLEET_KEYS, "fleet", mistakes)
        model = fields.word("model")
        if model is not None and model.text not in models():
            hint = did_you_mean(model.text, models(), "Known models")
            mistakes.add(model.place, f"unknown model {quoted(model.text)}{hint}")
        usual = Fleet()
        driver = fields.value("driver", DriverVersion, None)
        fleet = Fleet(
            _count(fields, "nodes", MAX_NODES, None) or usual.nodes,
            _count(fields, "gpus", MAX_GPUS, None) or usual.gpus,
            model.text if model else usual.model,
            driver.text if driver else None,
            _scheduler(fields),
            _nics(fields),
        )
    return fleet if len(mistakes) == before else None


def _scheduler(fields: Fields) -> str | None:
    word = fields.word("scheduler")
    if word is not None and word.text not in SCHEDULERS:
        hint = did_you_mean(word.text, SCHEDULERS, "Known schedulers")
        fields.mistakes.add(word.place, f"unknown scheduler {quoted(word.text)}{hint}")
    return word.text if word else None


def _nics(fields: Fields) -> tuple[str, ...]:
    tree = fields.get("nics")
    names: dict[str, None] = {}
    for item in items_of(tree, "nics", fields.mistakes):
        if not isinstance(item, Word) or not _NIC.fullmatch(item.text):
            fields.mistakes.add(
                item.place, f"nics: {kind_of(item)} is no interface's name, such as ens3 or ib0."
            )
        elif item.text in names:
            fields.mistakes.add(item.place, f"nics: a second interface {quoted(item.text)}.")
        else:
            names[item.text] = None
    if tree is not None and not names and not len(fields.mistakes):
        fields.mistakes.add(tree.place, "nics: the list is empty; leave it out for the usual ones.")
    return tuple(names)


def _count(fields: Fields, name: str, most: int, usual: int | None) -> int | None:
    value: Count | None = fields.value(name, Count, None)
    word = fields.get(name)
    if value is not None and value.number > most and isinstance(word, Word):
        fields.mistakes.add(word.place, f"{name}: {word.text} is more than {most}.")
    return usual if value is None else value.number


class _Jobs:
    """The jobs read so far. ``ids`` has those with mistakes too, for who refers to them."""

    def __init__(self, fleet: Fleet | None, mistakes: Mistakes) -> None:
        self.jobs: list[Job] = []
        self.ids: dict[str, None] = {}
        self._fleet = fleet
        self._mistakes = mistakes
        self._held: dict[tuple[str, int], int] = {}

    def read(self, tree: Tree) -> None:
        """Read the next."""
        before = len(self._mistakes)
        if isinstance(tree, Table) and not tree.entries:
            raise ScenarioError(tree.place, "a job needs an id, and gpus or nodes.")
        fields = Fields(tree, JOB_KEYS, "a job", self._mistakes)
        name = self._id(fields, tree)
        gpus = self._gpus(fields, name)
        usual = Job("", Gpus("*/*"))
        job = Job(
            name,
            gpus or usual.gpus,
            fields.value("load", Percent, Percent(usual.load * 100)).share,
            fields.value("memory", Size, Size(usual.memory_bytes)).bytes,
            fields.value("user", str, usual.user),
            fields.value("command", str, usual.command),
            fields.value("priority", int, usual.priority),
        )
        if len(self._mistakes) == before and self._fleet is not None:
            self._hold(job, tree, self._fleet)
            self.jobs.append(job)

    def _id(self, fields: Fields, tree: Tree) -> str:
        word = fields.need("id")
        if word is None:
            return ""
        read_value(word, "id", JobId, self._mistakes)
        if word.text in self.ids:
            self._mistakes.add(tree.place, f"a second job {quoted(word.text)}.")
        self.ids[word.text] = None
        return word.text

    def _gpus(self, fields: Fields, job: str) -> Gpus | None:
        if ("gpus" in fields.table) == ("nodes" in fields.table):
            if not {"gpus", "nodes"} & fields.misspelt:
                self._mistakes.add(
                    fields.table.place, f"job {quoted(job)} needs gpus or nodes, and not both."
                )
            return None
        name = "gpus" if "gpus" in fields.table else "nodes"
        word = fields.word(name)
        if name == "gpus":
            gpus: Gpus | None = read_value(word, name, Gpus, self._mistakes)
        else:
            nodes: Nodes | None = read_value(word, name, Nodes, self._mistakes)
            gpus = gpus_of(nodes) if nodes else None
        if gpus is not None and word is not None and self._fleet is not None:
            try:
                gpus.resolve(Inventory(self._fleet.names, self._fleet.gpus))
            except SelectionError as error:
                self._mistakes.add(word.place, f"{error}.", same=str(error))
        return gpus

    def _hold(self, job: Job, tree: Tree, fleet: Fleet) -> None:
        """Let a job hold its memory, if there is so much."""
        capacity_bytes = fleet.gpu_capacity_bytes
        for gpu in job.gpus.resolve(Inventory(fleet.names, fleet.gpus)):
            self._held[gpu] = self._held.get(gpu, 0) + job.memory_bytes
            if self._held[gpu] > capacity_bytes:
                raise ScenarioError(
                    tree.place,
                    f"{gpu[0]}/{gpu[1]} would hold {Size(self._held[gpu])}; "
                    f"a GPU of model {fleet.model} has {Size(capacity_bytes)} for jobs.",
                )
