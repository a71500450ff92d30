"""The model's frozen types from JSON, each field read as its annotation says.

A field whose annotation is not known here is a mistake of ours, and fails at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any

from gputui import decoding
from gputui.decoding import WrongError
from gputui.model import (
    Action,
    Ancestor,
    GpuSample,
    HostSample,
    Incident,
    LinkSample,
    ListenerSample,
    MigInstance,
    PciGpu,
    ProcessSample,
    Severity,
    TcpSample,
)

_PLAIN = frozenset({"int", "float", "str", "bool"})

_DECODERS: Mapping[str, Callable[[object, str], Any]] = {
    "int": decoding.integer,
    "float": decoding.number,
    "str": decoding.text,
    "bool": decoding.flag,
    "tuple[str, ...]": decoding.texts,
    "tuple[int, ...]": decoding.integers,
    "Mapping[str, str]": decoding.reasons,
    "Mapping[str, int]": decoding.counts,
    "Incident": lambda value, where: decode(Incident, value, where),
    "HostSample": lambda value, where: decode(HostSample, value, where),
    "TcpSample": lambda value, where: decode(TcpSample, value, where),
    "tuple[Ancestor, ...]": lambda value, where: _each(Ancestor, value, where),
    "tuple[PciGpu, ...]": lambda value, where: _each(PciGpu, value, where),
    "tuple[LinkSample, ...]": lambda value, where: _each(LinkSample, value, where),
    "tuple[ListenerSample, ...]": lambda value, where: _each(ListenerSample, value, where),
    "tuple[MigInstance, ...]": lambda value, where: _each(MigInstance, value, where),
    "tuple[GpuSample, ...]": lambda value, where: _each(GpuSample, value, where),
    "tuple[ProcessSample, ...]": lambda value, where: _each(ProcessSample, value, where),
    "Severity": decoding.one_of({severity.word: severity for severity in Severity}),
    "Action": decoding.one_of({action.value: action for action in Action}),
}


@dataclass(frozen=True, slots=True)
class _Field:
    """How one field of a model type is read: taken from its annotation in :mod:`gputui.model`.

    ``composed`` values are built from what stands in JSON; others are as they stand there.
    """

    name: str
    decode: Callable[[object, str], Any]
    nullable: bool
    required: bool
    composed: bool


class _Shape:
    """How a model type is read.

    ``known_good`` are the types of values, field by field, of objects that were read before. An
    object like one of those needs no other look at its plain values: samples are alike.
    """

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.fields = tuple(_field(declared) for declared in fields(kind))
        self.names = tuple(one.name for one in self.fields)
        self.composed = tuple(
            (position, one) for position, one in enumerate(self.fields) if one.composed
        )
        self.known_good: set[tuple[type, ...]] = set()


def _field(declared: Field[Any]) -> _Field:
    annotation = str(declared.type)
    plain = annotation.removesuffix(" | None")
    required = declared.default is MISSING and declared.default_factory is MISSING
    return _Field(
        declared.name, _DECODERS[plain], plain != annotation, required, plain not in _PLAIN
    )


_SHAPES: dict[type, _Shape] = {}
"""Made when the first object of a type is read: whoever only writes needs none."""

_MOST_KNOWN_GOOD = 64


def decode(kind: type, value: object, where: str) -> Any:
    """Build a frozen type, whose fields are of the sorts that the model's have, from JSON.

    Unknown names are passed over; ``where`` is what the object is called in errors, which are
    :class:`gputui.decoding.WrongError`.
    """
    raw = decoding.members(value, where)
    prefix = f"{where}." if where else ""
    shape = _SHAPES.get(kind)
    if shape is None:
        shape = _SHAPES[kind] = _Shape(kind)
    values = list(map(raw.get, shape.names))
    types = tuple(map(type, values))
    if types not in shape.known_good:
        return _decode_with_care(shape, raw, prefix, types)
    for position, one in shape.composed:
        if values[position] is not None:
            values[position] = one.decode(values[position], prefix + one.name)
    return kind(*values)


def _decode_with_care(
    shape: _Shape, raw: Mapping[str, object], prefix: str, types: tuple[type, ...]
) -> Any:
    """The same for an object like none before it; remembers its types if its values were plain."""
    known: dict[str, Any] = {}
    as_it_stood = True
    for one in shape.fields:
        if one.name not in raw:
            if one.required:
                raise WrongError(prefix + one.name, MISSING, "a value")
            as_it_stood = as_it_stood and one.nullable
            continue
        found = raw[one.name]
        if found is None and one.nullable:
            known[one.name] = None
            continue
        try:
            known[one.name] = one.decode(found, prefix + one.name)
        except WrongError as wrong:
            if one.nullable and wrong.where == prefix + one.name:
                wrong.expected += " or null"
            raise
        as_it_stood = as_it_stood and (one.composed or known[one.name] is found)
    if as_it_stood and len(shape.known_good) < _MOST_KNOWN_GOOD:
        shape.known_good.add(types)
    return shape.kind(**known)


def _each(kind: type, value: object, where: str) -> tuple[Any, ...]:
    return tuple(
        decode(kind, one, f"{where}[{i}]") for i, one in enumerate(decoding.items(value, where))
    )
