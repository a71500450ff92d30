"""How far the hand reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from chaos.errors import ScenarioError
from chaos.expectation import Judge, Outcome, ReadingContext, Timing, expectation
from chaos.format.fields import Fields
from chaos.format.values import BadValueError, convert
from chaos.format.yaml_tree import Items, Table, Tree, Word, kind_of
from chaos.journal import Record
from chaos.selection import Gpus, Inventory, JobId, Nodes, SelectionError

_S = TypeVar("_S", Nodes, Gpus, JobId)


@dataclass(frozen=True, slots=True)
class Reach:
    """What may have been acted on. A GPU's node and a node's GPUs come with it."""

    nodes: tuple[Nodes, ...] = ()
    gpus: tuple[Gpus, ...] = ()
    jobs: tuple[JobId, ...] = ()

    @classmethod
    def read(cls, tree: Tree, name: str, context: ReadingContext) -> Reach | None:
        """The reach under a key; None where mistakes were noted."""
        if not isinstance(tree, Table):
            raise ScenarioError(
                tree.place, f"{name}: expected a mapping of nodes, gpus, jobs, not {kind_of(tree)}."
            )
        before = len(context.mistakes)
        fields = Fields(tree, ("nodes", "gpus", "jobs"), name, context.mistakes)
        reach = cls(
            tuple(_read(Nodes, fields.get("nodes"), "nodes", context)),
            tuple(_read(Gpus, fields.get("gpus"), "gpus", context)),
            tuple(_read(JobId, fields.get("jobs"), "jobs", context)),
        )
        return reach if len(context.mistakes) == before else None


def _read(kind: type[_S], tree: Tree | None, name: str, context: ReadingContext) -> list[_S]:
    """One selection or a list of them."""
    if tree is None:
        return []
    found: list[_S] = []
    for one in tree.items if isinstance(tree, Items) else (tree,):
        if not isinstance(one, Word):
            raise ScenarioError(one.place, f"{name}: expected a selection, not {kind_of(one)}.")
        try:
            selection: _S = convert(one.text, kind)
            if context.inventory is not None:
                selection.resolve(context.inventory)
        except BadValueError as error:
            context.mistakes.add(one.place, f"{name}: {error}")
        except SelectionError as error:
            context.mistakes.add(one.place, f"{name}: {error}.", same=str(error))
        else:
            found.append(selection)
    return found


@expectation("touched")
@dataclass(frozen=True, slots=True)
class TouchedExpected:
    """Nothing but this was acted on."""

    touched: Reach

    timing: ClassVar[tuple[str, ...]] = ()

    def judge(self, timing: Timing, inventory: Inventory) -> Judge:
        """One who looks at every action."""
        return _Reaches(self.touched, inventory)


class _Reaches:
    """Judges that every action stayed within reach."""

    waits = False

    def __init__(self, reach: Reach, inventory: Inventory) -> None:
        gpus = {one for gpus in reach.gpus for one in gpus.resolve(inventory)}
        self._gpus = gpus
        self._whole = {name for nodes in reach.nodes for name in nodes.resolve(inventory)}
        self._jobs = {job.resolve(inventory) for job in reach.jobs}
        self._beyond: Record | None = None

    def see(self, record: Record) -> None:
        """Note the first action beyond."""
        if record.event != "action" or self._beyond is not None or not record.facts.get("ok", True):
            return
        node, gpu, job = (record.facts.get(name) for name in ("node", "gpu", "job"))
        if job is not None and job in self._jobs:
            return
        within = node in self._whole or (gpu is not None and (node, gpu) in self._gpus)
        if not within:
            self._beyond = record

    def outcome(self, now_us: int) -> Outcome | None:
        """Decided by the first action beyond."""
        if self._beyond is None:
            return None
        facts = self._beyond.facts
        parts = (facts.get("node"), facts.get("gpu"), facts.get("job"))
        whom = "/".join(str(part) for part in parts if part is not None)
        why = f"{facts['action']} touched {whom}"
        return Outcome(False, self._beyond.at_us, why, (self._beyond.number,))

    def at_end(self, end_us: int) -> Outcome:
        """Nothing else was acted on, or something was."""
        return self.outcome(end_us) or Outcome(True, None, "nothing else was acted on")
