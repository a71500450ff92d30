"""What a fault is, and how the faults there are get found.

A fault is a small class in a file of its own under ``chaos/faults/``. Its verb is a family
(``thermal``), and within a family its own argument selects the class (``airflow``)::

    @fault("thermal", by="airflow")
    @dataclass(frozen=True, slots=True)
    class Airflow:
        '''Scale the airflow over a GPU.'''

        gpu: Gpus
        airflow: Percent

        does_not_prove: ClassVar[str] = "that the fans would have compensated"

        def apply(self, world: World, undo: Undo) -> None: ...

It breaks the world, in the world's words, and knows nothing of NVML, logs or screens.
"""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from keyword import iskeyword
from typing import Any, ClassVar, Protocol, TypeVar, get_origin, get_type_hints

from chaos.errors import did_you_mean, quoted
from chaos.format.values import BadValueError, convert, plain_type, shown
from chaos.selection import Gpus, Inventory, JobId, Nodes, SelectionError
from chaos.undo import Undo
from fakes.world import World


class FaultError(Exception):
    """A fault that cannot be applied to the world as it is. One clause for the user."""


class ArgumentError(ValueError):
    """A mistake in a fault's arguments: one sentence, and the argument at whose door it lies.

    ``name`` is None when the fault as a whole is wrong; ``in_name`` says that the mistake is the
    argument's name, not its value; ``same`` is a word that it shares with others of which it is
    one; ``others`` are further ones of the same fault.
    """

    def __init__(
        self,
        problem: str,
        name: str | None = None,
        *,
        in_name: bool = False,
        same: str = "",
    ) -> None:
        super().__init__(problem)
        self.name = name
        self.in_name = in_name
        self.same = same
        self.others: tuple[ArgumentError, ...] = ()

    @classmethod
    def first_of(cls, errors: Sequence[ArgumentError]) -> ArgumentError:
        """The first of several, with the others behind it."""
        errors[0].others = tuple(errors[1:])
        return errors[0]


class Fault(Protocol):
    """Something that breaks. A frozen dataclass whose fields are its arguments."""

    does_not_prove: ClassVar[str]
    """What a drill with this fault leaves open: the clause after "It does not prove ..."."""

    def apply(self, world: World, undo: Undo) -> None:
        """Break the world now. Each step is registered with ``undo`` before it is taken."""
        ...


_CONTENTS = frozenset({"content", "with"})
"""Arguments that are a file's text, which may be none."""


@dataclasses.dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a fault. ``default`` is None for one that may be left out without any.

    ``attribute`` is the field that holds it: ``with_`` of ``with``, which is no name in Python.
    """

    name: str
    type: Any
    required: bool
    default: object = None

    @property
    def is_name(self) -> bool:
        """Whether it is a text that names something, and not what stands in a file."""
        return plain_type(self.type) is str and self.name not in _CONTENTS

    @property
    def attribute(self) -> str:
        """Its field's name."""
        return f"{self.name}_" if iskeyword(self.name) else self.name


@dataclasses.dataclass(frozen=True, slots=True)
class FaultType:
    """A class of faults: its verb, the argument that selects it, and all of its arguments."""

    family: str
    by: str | None
    cls: type[Fault]
    arguments: tuple[Argument, ...]

    @property
    def summary(self) -> str:
        """The first line of its documentation."""
        return (self.cls.__doc__ or "").strip().splitlines()[0]


_found: list[FaultType] = []
_F = TypeVar("_F", bound=type[Any])


def fault(family: str, *, by: str | None = None) -> Callable[[_F], _F]:
    """Make a dataclass a fault of ``family``, chosen among its siblings by the argument ``by``."""

    def register(cls: _F) -> _F:
        hints = get_type_hints(cls)
        arguments = tuple(
            Argument(
                field.name.rstrip("_"),
                hints[field.name],
                field.default is dataclasses.MISSING,
                None if field.default is dataclasses.MISSING else field.default,
            )
            for field in dataclasses.fields(cls)
            if get_origin(hints[field.name]) is not ClassVar
        )
        if by is not None and by not in {argument.name for argument in arguments}:
            raise TypeError(f"{cls.__name__} has no argument {by!r} to be selected by")
        _found.append(FaultType(family, by, cls, arguments))
        return cls

    return register


@cache
def families() -> Mapping[str, tuple[FaultType, ...]]:
    """Every fault there is, by family; found by looking into ``chaos/faults/``."""
    import chaos.faults

    for module in pkgutil.iter_modules(chaos.faults.__path__):
        importlib.import_module(f"chaos.faults.{module.name}")
    ordered = sorted(_found, key=lambda kind: (kind.family, kind.by or ""))
    return {
        family: tuple(kind for kind in ordered if kind.family == family)
        for family in dict.fromkeys(kind.family for kind in ordered)
    }


def type_of(instance: Fault) -> FaultType:
    """The type of a fault."""
    return next(t for kinds in families().values() for t in kinds if t.cls is type(instance))


def described(instance: Fault) -> dict[str, str]:
    """A fault's arguments in words; those that were left out are not among them."""
    values = {
        argument.name: getattr(instance, argument.attribute)
        for argument in type_of(instance).arguments
    }
    return {name: shown(value) for name, value in values.items() if value is not None}


def parse_fault(family: str, given: Mapping[str, str]) -> Fault:
    """Build a fault from its verb and its arguments in words."""
    if family not in families():
        raise ArgumentError(
            f"unknown fault {quoted(family)}{did_you_mean(family, families(), 'Known faults')}"
        )
    kind = _select(family, given)
    names = [argument.name for argument in kind.arguments]
    mistakes = [
        ArgumentError(
            f"'{family}' has no argument {quoted(name)}{did_you_mean(name, names)}",
            name,
            in_name=True,
        )
        for name in given
        if name not in names
    ]
    # A required argument may be missing only because its name is misspelt.
    all_known = not mistakes
    values: dict[str, Any] = {}
    missing: list[str] = []
    for argument in kind.arguments:
        if given.get(argument.name) == "" and argument.is_name:
            mistakes.append(ArgumentError(f"{argument.name}: it is empty.", argument.name))
        elif argument.name in given:
            try:
                values[argument.attribute] = convert(given[argument.name], argument.type)
            except BadValueError as error:
                mistakes.append(ArgumentError(f"{argument.name}: {error}", argument.name))
        elif argument.required and all_known:
            missing.append(f"'{argument.name}'")
    if missing:
        arguments = "argument" if len(missing) == 1 else "arguments"
        mistakes.append(ArgumentError(f"'{family}' needs the {arguments} {' and '.join(missing)}."))
    if mistakes:
        raise ArgumentError.first_of(mistakes)
    try:
        return kind.cls(**values)
    except ValueError as error:
        about = str(error).partition(":")[0]
        raise ArgumentError(str(error), about if about in given else None) from error


def check_selections(instance: Fault, inventory: Inventory) -> None:
    """Refuse a fault that selects nothing in ``inventory``, or what is not there."""
    mistakes = []
    for argument in type_of(instance).arguments:
        value = getattr(instance, argument.attribute)
        if isinstance(value, Gpus | Nodes | JobId):
            try:
                value.resolve(inventory)
            except SelectionError as error:
                problem = f"{argument.name}: {error}."
                mistakes.append(ArgumentError(problem, argument.name, same=str(error)))
    if mistakes:
        raise ArgumentError.first_of(mistakes)


def _select(family: str, given: Mapping[str, str]) -> FaultType:
    """The class of a family that the given arguments select: exactly one."""
    kinds = families()[family]
    chosen = [kind for kind in kinds if kind.by in given]
    if len(chosen) > 1:
        both = " and ".join(f"'{kind.by}'" for kind in chosen)
        raise ArgumentError(
            f"'{family}' sets {both}: one entry is one fault.", chosen[1].by, in_name=True
        )
    if chosen or len(kinds) == 1:
        return (chosen or list(kinds))[0]
    selectors = [str(kind.by) for kind in kinds]
    known = {argument.name for kind in kinds for argument in kind.arguments}
    for name in given:
        # The one that selects may be missing only because its name is misspelt.
        hint = did_you_mean(name, selectors)
        if name not in known and "Did you mean" in hint:
            problem = f"'{family}' has no argument {quoted(name)}{hint}"
            raise ArgumentError(problem, name, in_name=True)
    raise ArgumentError(f"'{family}' needs one of {', '.join(str(kind.by) for kind in kinds)}.")
