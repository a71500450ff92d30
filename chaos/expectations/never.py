"""Something is not to happen."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, get_type_hints

from chaos.condition import State
from chaos.errors import ScenarioError
from chaos.expectation import Judge, Outcome, ReadingContext, Timing, expectation, read_fields
from chaos.format.fields import Fields, check_keys
from chaos.format.patterns import CallPattern
from chaos.format.yaml_tree import Items, Table, Tree, kind_of
from chaos.journal import Record
from chaos.judging.matching import (
    ActionMatch,
    CallMatch,
    IncidentKind,
    IncidentMatch,
    Match,
    Where,
    wrong_cause,
    wrong_subject,
)
from chaos.selection import Gpus, Inventory, JobId, Nodes
from fakes.actions import Effect


@dataclass(frozen=True, slots=True)
class Deed:
    """An action, a call or an incident: exactly one of the first three, and where."""

    action: Effect | None = None
    call: CallPattern | None = None
    incident: IncidentKind | None = None
    gpu: Gpus | None = None
    node: Nodes | None = None
    job: JobId | None = None
    cause: str | None = None

    @classmethod
    def read(cls, tree: Tree, name: str, context: ReadingContext) -> Deed | None:
        """The deed under a key; None where mistakes were noted."""
        if not isinstance(tree, Table):
            raise ScenarioError(tree.place, f"{name}: expected a mapping, not {kind_of(tree)}.")
        hints = get_type_hints(cls)
        types = {field.name: hints[field.name] for field in dataclasses.fields(cls)}
        heads = sum(key.text in ("action", "call", "incident") for key, _ in tree.entries)
        if not heads:
            check_keys(tree, tuple(types), name, context.mistakes)
        if heads != 1:
            raise ScenarioError(tree.place, f"{name} needs exactly one of action, call, incident.")
        fields = Fields(tree, tuple(types), name, context.mistakes)
        found: Deed | None = read_fields(cls, types, frozenset(), fields, context)
        return found

    def wrong(self, context: ReadingContext) -> Iterator[tuple[str, str]]:
        """What it can never be, so that it would always be true that it did not happen."""
        if self.action is not None:
            yield from wrong_subject(self.action, self.gpu, self.job)
        if self.call is not None and (self.gpu is not None or self.job is not None):
            yield ("gpu" if self.gpu else "job"), "a call is made on a node: say 'node:'."
        if self.incident is not None:
            yield from wrong_cause(self.incident, self.cause)
        elif self.cause is not None:
            yield "cause", "only an incident has one."

    def match(self, inventory: Inventory) -> Match:
        """Which lines of the journal are meant."""
        where = Where.of(inventory, self.gpu, self.node, self.job)
        if self.action is not None:
            return ActionMatch(self.action, where)
        if self.call is not None:
            return CallMatch(self.call, where)
        if self.incident is None:
            raise ValueError("a deed of nothing")
        return IncidentMatch(self.incident.text, where, self.cause)


@dataclass(frozen=True, slots=True)
class Deeds:
    """Several."""

    deeds: tuple[Deed, ...]

    @classmethod
    def read(cls, tree: Tree, name: str, context: ReadingContext) -> Deeds:
        """One, or a list of them."""
        trees = tree.items if isinstance(tree, Items) else (tree,)
        found = (Deed.read(one, name, context) for one in trees)
        return cls(tuple(deed for deed in found if deed is not None))


@expectation("never")
@dataclass(frozen=True, slots=True)
class NeverExpected:
    """Something does not happen: in the whole run, or ``until`` a state comes after its start."""

    never: Deed
    until: State | None = None
    except_: Deeds | None = None

    timing: ClassVar[tuple[str, ...]] = ("within", "from")

    @property
    def states(self) -> tuple[State, ...]:
        """What is to be watched."""
        return () if self.until is None else (self.until,)

    def judge(self, timing: Timing, inventory: Inventory) -> Judge:
        """One who looks for the first time that it does."""
        deeds = self.except_.deeds if self.except_ else ()
        excepted = tuple(deed.match(inventory) for deed in deeds)
        until = None if self.until is None else self.until.text
        return _Never(self.never.match(inventory), excepted, until, timing)


class _Never:
    """Judges that nothing of the kind is in the journal."""

    waits = False

    def __init__(
        self, match: Match, excepted: tuple[Match, ...], until: str | None, timing: Timing
    ) -> None:
        self._match = match
        self._excepted = excepted
        self._until = until
        self._timing = timing
        self._is_over = False
        self._broken: Record | None = None

    def see(self, record: Record) -> None:
        """Note the first of the kind, while it counts."""
        if record.event == "state" and record.facts["state"] == self._until:
            # What holds before anything broke is not what is waited for.
            comes = record.facts["holds"] and record.at_us > self._timing.from_us
            self._is_over = self._is_over or comes
        counts = not self._is_over and record.at_us >= self._timing.from_us
        deadline_us = self._timing.deadline_us
        if not counts or (deadline_us is not None and record.at_us > deadline_us):
            return
        if self._broken is None and self._match.matches(record):
            excepted = any(one.matches(record) for one in self._excepted)
            self._broken = None if excepted else record

    def outcome(self, now_us: int) -> Outcome | None:
        """Decided by its happening; that it does not is known at the end alone."""
        if self._broken is None:
            return None
        measured_us = self._broken.at_us - self._timing.from_us
        return Outcome(False, measured_us, "happened", (self._broken.number,))

    def at_end(self, end_us: int) -> Outcome:
        """It did not happen, or it did."""
        return self.outcome(end_us) or Outcome(True, None, "did not happen")
