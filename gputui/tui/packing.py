"""Snapshots in a few KiB each: their readings as plain values, compressed.

Incidents stay as they are: from one snapshot to the next most are the same objects.
"""

from __future__ import annotations

import marshal
import pickle
import zlib
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from operator import attrgetter
from typing import Any

from gputui.model import GpuState, GpuStatus, NodeSample, Snapshot

_FAST = 1
"""zlib's quickest level packs nearly as well as its best one, in a third of the time."""

_NOTHING = NodeSample(host="", time_s=0.0)


@dataclass(frozen=True, slots=True)
class Packed:
    """A snapshot whose sample and statuses are in ``readings``, and not in ``rest``.

    ``as_objects`` says that they would not come apart, and were packed whole.
    """

    readings: bytes
    rest: Snapshot
    as_objects: bool = False


def packed(snapshot: Snapshot) -> Packed:
    """The snapshot, packed."""
    rest = replace(snapshot, sample=_NOTHING, statuses=())
    try:
        plain = marshal.dumps((_apart(snapshot.sample), _statuses(snapshot)))
    except ValueError:
        whole = pickle.dumps((snapshot.sample, snapshot.statuses), pickle.HIGHEST_PROTOCOL)
        return Packed(zlib.compress(whole, _FAST), rest, as_objects=True)
    return Packed(zlib.compress(plain, _FAST), rest)


def unpacked(one: Packed) -> Snapshot:
    """The snapshot as it was. It was packed here, minutes ago: nothing foreign is ever unpacked."""
    readings = zlib.decompress(one.readings)
    if one.as_objects:
        sample, statuses = pickle.loads(readings)
        return replace(one.rest, sample=sample, statuses=statuses)
    parts, states = marshal.loads(readings)
    statuses = tuple(GpuStatus(index, GpuState(word), *rest) for index, word, *rest in states)
    return replace(one.rest, sample=NodeSample(*map(_together, parts)), statuses=statuses)


def _statuses(snapshot: Snapshot) -> list[tuple[object, ...]]:
    return [
        (one.index, one.state.value, one.since_s, one.age_s, one.reason, one.since_start)
        for one in snapshot.statuses
    ]


class _Kind:
    """A type of the model, and how to take out the values of what is of it."""

    def __init__(self, kind: type[Any]) -> None:
        self.make = kind
        self.number = len(_kinds)
        self.values: Callable[[Any], tuple[Any, ...]] = attrgetter(
            *(one.name for one in fields(kind))
        )


_kinds: list[_Kind] = []
_kind_of: dict[type, _Kind | None] = {}


def _known(kind: type) -> _Kind | None:
    """What is known of a type of the model; None for a plain one."""
    if kind not in _kind_of:
        known = _kind_of[kind] = _Kind(kind) if is_dataclass(kind) else None
        if known is not None:
            _kinds.append(known)
    return _kind_of[kind]


def _apart(sample: NodeSample) -> list[object]:
    """The sample's values. What is of the model is a list (of which the model has none): the number
    of its type, and its values or, of several, the values of each.
    """
    parts: list[object] = []
    for value in attrgetter(*_NODE_FIELDS)(sample):
        kind = _known(type(value))
        inner = _known(type(value[0])) if type(value) is tuple and value else None
        if kind is not None:
            value = [kind.number, kind.values(value)]
        elif inner is not None:
            value = [inner.number, list(map(inner.values, value))]
        parts.append(value)
    return parts


def _together(part: Any) -> Any:
    """The value that a part stands for."""
    if type(part) is not list:
        return part
    number, values = part
    make = _kinds[number].make
    return tuple(make(*one) for one in values) if type(values) is list else make(*values)


_NODE_FIELDS = tuple(one.name for one in fields(NodeSample))
