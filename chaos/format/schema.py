"""The JSON Schema of scenario files, made from the same types that read them.

It is for editors, and for whoever writes scenarios with a program. It says what stands where and
of what form it is; what only a scenario as a whole can tell (whether there is such a GPU, whether
two expectations contradict each other) ``gpuchaos check`` says.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, get_type_hints

from chaos.condition import State, condition_types
from chaos.conditions.node import ServiceNames
from chaos.expectation import expectation_types
from chaos.expectations.exit import ExitStatus
from chaos.expectations.never import Deed, Deeds
from chaos.expectations.touched import Reach
from chaos.fault import FaultType, families
from chaos.format.comparison import Comparison
from chaos.format.given_reader import BEFORE, SCHEDULERS
from chaos.format.patterns import Pattern
from chaos.format.values import (
    Celsius,
    Count,
    DriverVersion,
    Duration,
    Numbers,
    Percent,
    Rate,
    Settings,
    Size,
    Watts,
    expected,
    plain_type,
)
from chaos.judging.matching import IncidentKind, incident_kinds
from chaos.selection import Gpus, JobId, Nodes
from fakes.profile import models

Schema = dict[str, Any]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_AMOUNT = r"[0-9]+(\.[0-9]+)?"
_WORD: Schema = {"type": ["string", "number", "boolean"]}
"""A word: what YAML takes for a number is one, too."""

_PATTERNS: dict[type[Any], str] = {
    Duration: rf"^({_AMOUNT}(us|ms|s|m|h|d))+$",
    Percent: rf"^{_AMOUNT}%$",
    Size: rf"^{_AMOUNT} ?(B|KiB|MiB|GiB|TiB)$",
    Rate: rf"^{_AMOUNT} ?(B|KiB|MiB|GiB|TiB)/(s|m|h)$",
    Celsius: rf"^{_AMOUNT} ?C$",
    Watts: rf"^{_AMOUNT} ?k?W$",
}
_OTHERS: dict[type[Any], Schema] = {
    Numbers: {"type": ["integer", "string"], "pattern": r"^([0-9]+(\.\.[0-9]+)?|all)$"},
    Count: {"type": "integer", "minimum": 1, "maximum": 100_000},
    DriverVersion: {"type": ["string", "number"], "pattern": r"^[0-9]{3}(\.[0-9]{1,3}){1,2}$"},
    Settings: {"type": ["object", "string"], "additionalProperties": _WORD},
    Gpus: {"type": ["string", "integer"], "minLength": 1},
    Nodes: {"type": "string", "minLength": 1},
    JobId: {"type": ["string", "integer"], "minLength": 1},
    int: {"type": "integer", "minimum": 0},
    bool: {"type": "boolean"},
    str: _WORD,
    ExitStatus: {"type": "integer", "minimum": 0, "maximum": 255},
}


def schema() -> Schema:
    """The schema of a scenario."""
    return {
        "$schema": _DRAFT,
        "title": "A scenario of gpuchaos",
        **_object(
            {
                "scenario": {**_WORD, "description": "its name: that of the file"},
                "why": {"type": "string", "minLength": 1, "description": "what it is for"},
                "given": _given(),
                "timeline": {"type": "array", "items": {"$ref": "#/$defs/entry"}},
                "expect": {"type": "array", "items": {"$ref": "#/$defs/expectation"}},
                "runbook": _runbook(),
                "seed": _of(int),
                "stop": _object(
                    {"after": _of(Duration), "wall": _of(Duration), "calls": _of(Count)}
                ),
                "vary": {
                    "type": "object",
                    "additionalProperties": {
                        "anyOf": [_WORD, {"type": "array", "items": _WORD, "minItems": 1}]
                    },
                },
                "allow": {"type": "array", "items": _of(IncidentKind)},
            },
            required=("scenario", "why"),
        ),
        "$defs": {
            "entry": _entry(),
            "expectation": _expectation(),
            "state": _state(),
            "deed": _deed(),
            "incident": {"enum": list(incident_kinds())},
        },
    }


def _object(
    properties: Mapping[str, Schema],
    *,
    required: Iterable[str] = (),
    description: str = "",
) -> Schema:
    """A mapping of which every key is known."""
    found: Schema = {"type": "object", "properties": dict(properties)}
    if wanted := list(required):
        found["required"] = wanted
    if description:
        found["description"] = description
    return {**found, "additionalProperties": False}


def _of(annotation: Any) -> Schema:
    """The schema of a type of value."""
    kind = plain_type(annotation)
    if kind in _PATTERNS:
        return {"type": "string", "pattern": _PATTERNS[kind], "description": expected(kind)}
    if kind in _OTHERS:
        return dict(_OTHERS[kind])
    if issubclass(kind, Enum):
        return {"enum": [member.value for member in kind]}
    if issubclass(kind, Comparison):
        return {"type": ["string", "number"], "description": 'a comparison, such as "< 85C"'}
    if issubclass(kind, Pattern):
        return {"type": ["string", "number"], "description": "a text; * stands for anything"}
    if kind is IncidentKind:
        return {"$ref": "#/$defs/incident"}
    if kind is ServiceNames:
        return {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    if kind is State:
        return {"$ref": "#/$defs/state"}
    if kind is Deed:
        return {"$ref": "#/$defs/deed"}
    if kind is Deeds:
        deed = {"$ref": "#/$defs/deed"}
        return {"anyOf": [deed, {"type": "array", "items": deed, "minItems": 1}]}
    if kind is Reach:
        return _object({"nodes": _several(Nodes), "gpus": _several(Gpus), "jobs": _several(JobId)})
    raise TypeError(f"{kind.__name__} has no schema")


def _several(kind: type[Any]) -> Schema:
    return {"anyOf": [_of(kind), {"type": "array", "items": _of(kind)}]}


def _fields(types: Mapping[str, Any], required: Iterable[str], summary: str = "") -> Schema:
    """The schema of a dataclass: Python keeps some words for itself, as ``is``."""
    return _object(
        {name.rstrip("_"): _of(one) for name, one in types.items()},
        required=sorted(name.rstrip("_") for name in required),
        description=summary,
    )


def _fault(kind: FaultType) -> Schema:
    return _object(
        {argument.name: _of(argument.type) for argument in kind.arguments},
        required=sorted(
            {argument.name for argument in kind.arguments if argument.required}
            | ({kind.by} if kind.by else set())
        ),
        description=kind.summary,
    )


def _family(family: str) -> Schema:
    kinds = [_fault(kind) for kind in families()[family]]
    return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}


def _entry() -> Schema:
    verbs = {**{family: _family(family) for family in families()}, "heal": _WORD}
    return {
        **_object({"id": _WORD, "at": _of(Duration), **verbs}, required=("at",)),
        "oneOf": [{"required": [verb]} for verb in verbs],
    }


def _expectation() -> Schema:
    kinds = []
    for kind in expectation_types().values():
        timing = {name: _WORD if name == "from" else _of(Duration) for name in kind.cls.timing}
        fields = _fields(kind.types, kind.required, kind.summary)
        kinds.append({**fields, "properties": {**fields["properties"], **timing}})
    return {"oneOf": kinds}


def _state() -> Schema:
    return {
        "oneOf": [
            {**_fields(kind.types, kind.required), "minProperties": 2}
            for kind in condition_types().values()
        ]
    }


def _deed() -> Schema:
    hints = get_type_hints(Deed)
    types = {field.name: hints[field.name] for field in dataclasses.fields(Deed)}
    heads = ("action", "call", "incident")
    return {**_fields(types, ()), "oneOf": [{"required": [head]} for head in heads]}


def _runbook() -> Schema:
    words: Schema = {"anyOf": [_WORD, {"type": "array", "items": _WORD, "minItems": 1}]}
    kinds: Schema = {"anyOf": [_of(IncidentKind), {"type": "array", "items": _of(IncidentKind)}]}
    return _object(
        {"run": words, "when": kinds, "args": words, "on": _of(Nodes), "exit": _of(ExitStatus)},
        required=("run",),
    )


def _given() -> Schema:
    fleet = _object(
        {
            "nodes": _of(Count),
            "gpus": _of(Count),
            "model": {"enum": list(models())},
            "driver": _of(DriverVersion),
            "scheduler": {"enum": list(SCHEDULERS)},
            "nics": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        }
    )
    job = _object(
        {
            "id": _of(JobId),
            "gpus": _of(Gpus),
            "nodes": _of(Nodes),
            "load": _of(Percent),
            "memory": _of(Size),
            "user": _WORD,
            "command": _WORD,
            "priority": _of(int),
        },
        required=("id",),
    )
    before = {
        key: {"type": "array", "items": _family(family)}
        for key, family in BEFORE.items()
        if family in families()
    }
    return _object(
        {
            "fleet": fleet,
            "jobs": {
                "type": "array",
                "items": {**job, "oneOf": [{"required": ["gpus"]}, {"required": ["nodes"]}]},
            },
            **before,
            "steady": {"type": "array", "items": {"$ref": "#/$defs/state"}},
            "expected_gpus": _of(Count),
        }
    )
