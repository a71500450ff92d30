"""Which lines of a journal are meant: incidents, calls, actions and log lines, and by whom.

Expectations say "this comes", ``never`` says "this does not", both in the same words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

from chaos.errors import ScenarioError, did_you_mean, quoted
from chaos.format.patterns import Pattern
from chaos.format.yaml_tree import Tree, Word, kind_of
from chaos.journal import Record
from chaos.selection import Gpus, Inventory, JobId, Nodes
from fakes.actions import Effect


@dataclass(frozen=True)
class IncidentKind:
    """The kind of an incident, one of those that gputui's rules and vocabulary know."""

    text: str

    @classmethod
    def read(cls, tree: Tree, name: str, context: object) -> IncidentKind:
        """The kind under a key."""
        if not isinstance(tree, Word) or not tree.text:
            raise ScenarioError(tree.place, f"{name}: expected a kind, not {kind_of(tree)}.")
        if tree.text not in incident_kinds():
            hint = did_you_mean(tree.text, incident_kinds(), "Known kinds")
            raise ScenarioError(tree.place, f"unknown kind of incident {quoted(tree.text)}{hint}")
        return cls(tree.text)

    def __str__(self) -> str:
        return self.text


@cache
def incident_kinds() -> tuple[str, ...]:
    """Every kind that a rule of gputui's opens."""
    from gputui.incidents.rules import all_rules

    return tuple(sorted({rule.kind for rule in all_rules()}))


def wrong_cause(kind: IncidentKind, cause: str | None) -> Iterator[tuple[str, str]]:
    """A cause that is not in the closed list of a kind's (gputui/facts/kinds.csv)."""
    from gputui.facts.words import kind_table

    fact = kind_table().facts.get((kind.text,))
    if cause is not None and fact is not None and cause not in fact.causes:
        hint = did_you_mean(cause, fact.causes, "Its causes")
        yield "cause", f"{kind} has no cause {quoted(cause)}{hint}"


_ON_GPUS = frozenset(
    (
        Effect.RESET_GPU, Effect.SET_POWER_LIMIT, Effect.SET_CLOCKS, Effect.SET_PERSISTENCE,
        Effect.SET_ECC, Effect.SET_COMPUTE_MODE, Effect.SET_MIG, Effect.CLEAR_COUNTERS, Effect.KILL,
    )
)  # fmt: skip
_ON_JOBS = frozenset((Effect.KILL, Effect.REQUEUE, Effect.CANCEL, Effect.SUBMIT, Effect.EDIT_FILE))


def wrong_subject(
    action: Effect, gpu: object | None, job: object | None
) -> Iterator[tuple[str, str]]:
    """A subject that an effect never has."""
    if gpu is not None and action not in _ON_GPUS:
        whole = "jobs" if action in _ON_JOBS else "whole nodes"
        key = "job" if action in _ON_JOBS else "node"
        yield "gpu", f"'{action.value}' concerns {whole}: say '{key}:'."
    if job is not None and action not in _ON_JOBS:
        key = "gpu' or 'node" if action in _ON_GPUS else "node"
        yield "job", f"'{action.value}' concerns no job: say '{key}:'."


class Match(Protocol):
    """Whether a line of the journal is meant."""

    def matches(self, record: Record) -> bool:
        """Whether it is."""
        ...


@dataclass(frozen=True, slots=True)
class Where:
    """On which GPUs, nodes or job; None where that does not matter."""

    gpus: frozenset[tuple[str, int]] | None = None
    nodes: frozenset[str] | None = None
    job: str | None = None

    @classmethod
    def of(
        cls, inventory: Inventory, gpu: Gpus | None, node: Nodes | None, job: JobId | None
    ) -> Where:
        """The selections, resolved."""
        return cls(
            None if gpu is None else frozenset(gpu.resolve(inventory)),
            None if node is None else frozenset(node.resolve(inventory)),
            None if job is None else job.resolve(inventory),
        )

    def includes(self, node: object, gpu: object, job: object) -> bool:
        """Whether what concerns this node, GPU (an index, or None) and job is meant."""
        if self.gpus is not None and (node, gpu) not in self.gpus:
            return False
        if self.nodes is not None and node not in self.nodes:
            return False
        return self.job is None or self.job == job


@dataclass(frozen=True, slots=True)
class IncidentMatch:
    """Incidents of a kind, on some subject, of some cause. Only what is open matches."""

    kind: str
    where: Where
    cause: str | None = None

    def matches(self, record: Record) -> bool:
        """Whether the line tells of an open incident that is meant."""
        if record.event != "incident":
            return False
        incident = record.facts["incident"]
        return incident["cleared_s"] is None and self.means(incident)

    def means(self, incident: Mapping[str, Any]) -> bool:
        """Whether an incident is meant, open or not."""
        if incident["kind"] != self.kind:
            return False
        if self.cause is not None and incident["cause"] != self.cause:
            return False
        subject = str(incident["subject"])
        job = subject.removeprefix("job:") if subject.startswith("job:") else None
        return self.where.includes(incident["host"], incident["gpu"], job)


@dataclass(frozen=True, slots=True)
class CallMatch:
    """Calls of commands, by the base name of the program and its arguments."""

    call: Pattern
    where: Where

    def matches(self, record: Record) -> bool:
        """Whether the line tells of such a call."""
        if record.event != "call":
            return False
        name, *arguments = (str(word) for word in record.facts["argv"])
        text = " ".join([name.rpartition("/")[2], *arguments])
        return self.call.matches(text) and self.where.includes(record.facts["node"], None, None)


@dataclass(frozen=True, slots=True)
class ActionMatch:
    """Actions, by their effect. One that was refused has none."""

    action: Effect
    where: Where

    def matches(self, record: Record) -> bool:
        """Whether the line tells of such an action."""
        facts = record.facts
        return (
            record.event == "action"
            and facts["action"] == self.action.value
            and bool(facts.get("ok", True))
            and self.where.includes(facts.get("node"), facts.get("gpu"), facts.get("job"))
        )


@dataclass(frozen=True, slots=True)
class LogMatch:
    """Lines of the kernel's or of a job's log."""

    log: Pattern
    where: Where

    def matches(self, record: Record) -> bool:
        """Whether the line tells of such a line."""
        if record.event != "log":
            return False
        source = record.facts["source"]
        job = None if source == "kernel" else source
        return self.log.matches(str(record.facts["text"])) and self.where.includes(
            record.facts["node"], None, job
        )
