"""What a condition is, and how those there are get found.

A condition is a small class in a file of its own under ``chaos/conditions/``. The key that selects
its subject names it::

    @condition("gpu")
    @dataclass(frozen=True, slots=True)
    class GpuCondition:
        '''What GPUs are to be like.'''

        gpu: Gpus
        temperature: Temperature | None = None

        def broken(self, world: World) -> str: ...

It is asked of the world itself, not of what a monitor makes of it.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar, get_type_hints

from chaos.errors import ScenarioError
from chaos.expectation import ReadingContext, as_text, read_fields
from chaos.format.fields import Fields, check_keys
from chaos.format.yaml_tree import Table, Tree, kind_of
from fakes.world import World


class Condition(Protocol):
    """A frozen dataclass whose fields are the keys of a condition."""

    def broken(self, world: World) -> str:
        """A clause on what is not as it should be, now; empty while the condition holds."""
        ...


@dataclass(frozen=True, slots=True)
class State:
    """A condition, and how it was written."""

    condition: Condition
    text: str

    @classmethod
    def read(cls, tree: Tree, name: str, context: ReadingContext) -> State | None:
        """The state under a key; None where mistakes were noted."""
        if not isinstance(tree, Table):
            raise ScenarioError(tree.place, f"{name}: expected a mapping, not {kind_of(tree)}.")
        types = condition_types()
        given = [key.text for key, _ in tree.entries if key.text in types]
        # A file is on a node: the node is its argument, and no subject of its own.
        heads = [one for one in given if not any(one in types[o].types for o in given if o != one)]
        if not heads:
            known = dict.fromkeys(key.rstrip("_") for kind in types.values() for key in kind.types)
            check_keys(tree, (*types, *known), name, context.mistakes)
        if len(heads) != 1:
            raise ScenarioError(tree.place, f"{name} needs exactly one of {', '.join(types)}.")
        kind = types[heads[0]]
        fields = Fields(tree, tuple(key.rstrip("_") for key in kind.types), name, context.mistakes)
        if len(tree.entries) == 1:
            raise ScenarioError(
                tree.place, f"{name}: a {heads[0]} without a condition is always as it should be."
            )
        found = read_fields(kind.cls, kind.types, kind.required, fields, context)
        return None if found is None else cls(found, as_text(tree))


@dataclass(frozen=True, slots=True)
class ConditionType:
    """A class of conditions: its head, and the types of its fields."""

    head: str
    cls: type[Any]
    types: Mapping[str, Any]
    required: frozenset[str]


_found: dict[str, ConditionType] = {}
_C = TypeVar("_C", bound=type[Any])


def condition(head: str) -> Callable[[_C], _C]:
    """Make a dataclass the condition on a ``head``."""

    def register(cls: _C) -> _C:
        hints = get_type_hints(cls)
        fields = dataclasses.fields(cls)
        required = frozenset(field.name for field in fields if field.default is dataclasses.MISSING)
        types = {field.name: hints[field.name] for field in fields}
        _found[head] = ConditionType(head, cls, types, required)
        return cls

    return register


@cache
def condition_types() -> Mapping[str, ConditionType]:
    """Every condition there is, by its head; found by looking into ``chaos/conditions/``."""
    import chaos.conditions

    for module in pkgutil.iter_modules(chaos.conditions.__path__):
        importlib.import_module(f"chaos.conditions.{module.name}")
    return dict(sorted(_found.items()))
