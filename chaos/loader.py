"""Scenario files in; scenarios, or all of their mistakes at their places, out.

Parts are read one after the other, and a mistake in one does not hide those in the next. What
cannot be judged because of an earlier mistake (a selection, where the fleet is wrong) is left out,
so that every line that is reported is one to mend.
"""

from __future__ import annotations

from pathlib import Path

from chaos.errors import Mistakes, ScenarioError, did_you_mean, quoted
from chaos.fields import Fields, items_of, read_value
from chaos.fleet import MAX_GPUS, MAX_NODES, Fleet, Given, Job, gpus_of
from chaos.scenario import Scenario
from chaos.selection import Gpus, Inventory, Nodes, SelectionError
from chaos.terms import TermsReader
from chaos.timeline import TimelineReader
from chaos.values import Count, Percent, Size
from chaos.yaml_tree import Table, Tree, Word, kind_of, read_tree
from fakes.profile import models

KEYS = (
    "scenario", "why", "given", "timeline",
    "expect", "runbook", "seed", "stop", "vary", "allow",
)  # fmt: skip
GIVEN_KEYS = ("fleet", "jobs", "steady")
FLEET_KEYS = ("nodes", "gpus", "model", "driver", "scheduler")
SCHEDULERS = ("slurm",)
JOB_KEYS = ("id", "gpus", "nodes", "load", "memory", "user", "command")


def load(path: Path) -> Scenario:
    """Read and check a scenario file. Its mistakes are one :class:`BadScenarioError`."""
    mistakes = Mistakes()
    with mistakes.noting():
        scenario = _scenario(Fields(read_tree(path, mistakes), KEYS, "a scenario", mistakes), path)
    mistakes.raise_any()
    return scenario


def _scenario(top: Fields, path: Path) -> Scenario:
    """Whatever of a scenario can be read; it holds only if there were no mistakes."""
    name, why = top.need("scenario"), top.need("why")
    if name is not None and name.text != path.stem:
        top.mistakes.add(
            name.place,
            f"scenario {quoted(name.text)} in a file named {path.name}: the two must agree.",
        )
    given, inventory = _given(top)
    timeline = TimelineReader(inventory, top.mistakes)
    entries = timeline.read(top.get("timeline"))
    terms = TermsReader(top, inventory, timeline.ids, path.parent).read()
    _check_vary(top)
    return Scenario(
        name.text if name else "",
        why.text if why else "",
        path,
        given,
        entries,
        top.value("seed", int, 0),
        terms,
    )


# --- given ---------------------------------------------------------------------------------------


def _given(top: Fields) -> tuple[Given, Inventory | None]:
    """What is given, and what there is to select from; None if that is not known."""
    tree, mistakes = top.get("given"), top.mistakes
    if tree is None:
        given = Given(Fleet())
        return given, given.inventory
    fleet: Fleet | None = None
    jobs = None
    with mistakes.noting():
        fields = Fields(tree, GIVEN_KEYS, "given", mistakes)
        fleet = _fleet(fields)
        jobs = _Jobs(fleet, mistakes)
        for item in items_of(fields.get("jobs"), "jobs", mistakes):
            with mistakes.noting():
                jobs.read(item)
    if fleet is None or jobs is None:
        return Given(fleet or Fleet()), None
    return Given(fleet, tuple(jobs.jobs)), Inventory(fleet.names, fleet.gpus, tuple(jobs.ids))


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
        fleet = Fleet(
            _count(fields, "nodes", MAX_NODES, usual.nodes),
            _count(fields, "gpus", MAX_GPUS, usual.gpus),
            model.text if model else usual.model,
            fields.value("driver", str, None),
            _scheduler(fields),
        )
    return fleet if len(mistakes) == before else None


def _scheduler(fields: Fields) -> str | None:
    word = fields.word("scheduler")
    if word is not None and word.text not in SCHEDULERS:
        hint = did_you_mean(word.text, SCHEDULERS, "Known schedulers")
        fields.mistakes.add(word.place, f"unknown scheduler {quoted(word.text)}{hint}")
    return word.text if word else None


def _count(fields: Fields, name: str, most: int, usual: int) -> int:
    number: int = fields.value(name, Count, Count(usual)).number
    word = fields.get(name)
    if number > most and isinstance(word, Word):
        fields.mistakes.add(word.place, f"{name}: {word.text} is more than {most}.")
    return number


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
        fields = Fields(tree, JOB_KEYS, "a job", self._mistakes)
        name = fields.need("id")
        if name is not None:
            if name.text in self.ids:
                self._mistakes.add(tree.place, f"a second job {quoted(name.text)}.")
            self.ids[name.text] = None
        gpus = self._gpus(fields, name.text if name else "")
        usual = Job("", Gpus("*/*"))
        job = Job(
            name.text if name else "",
            gpus or usual.gpus,
            fields.value("load", Percent, Percent(usual.load * 100)).share,
            fields.value("memory", Size, Size(usual.memory_bytes)).bytes,
            fields.value("user", str, usual.user),
            fields.value("command", str, usual.command),
        )
        if len(self._mistakes) == before and self._fleet is not None:
            self._hold(job, tree, self._fleet)
            self.jobs.append(job)

    def _gpus(self, fields: Fields, job: str) -> Gpus | None:
        if ("gpus" in fields.table) == ("nodes" in fields.table):
            raise ScenarioError(
                fields.table.place, f"job {quoted(job)} needs gpus or nodes, and not both."
            )
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
                self._mistakes.add(word.place, f"{error}.")
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


def _check_vary(top: Fields) -> None:
    """The shape of what only a campaign needs."""
    tree = top.get("vary")
    if tree is not None and not isinstance(tree, Table):
        top.mistakes.add(tree.place, f"vary: expected a mapping, not {kind_of(tree)}.")
